#include "tune/plot.h"

#include "base/error.h"
#include "tune/paste.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH  800.0
#define HEIGHT 500.0
#define LEFT   80.0
#define RIGHT  20.0
#define TOP    50.0
#define BOTTOM 60.0
#define LABEL  14.0 /* height of a line of text */

struct axis { /* of log time */
	double low, high;
	double least, most; /* seconds */
	uint32_t n;
};

static bool is_shown(const struct fw_tune_entry *e)
{
	return e->guide_s > 0 && e->result.occupancy >= 0;
}

static double seconds_of(const struct fw_tune_entry *e)
{
	return e->is_raced ? e->result.median_s : e->guide_s;
}

static double x_of(double occupancy)
{
	return LEFT + occupancy * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axis *axis, double seconds)
{
	return TOP +
	       (axis->high - log10(seconds)) / (axis->high - axis->low) * (HEIGHT - TOP - BOTTOM);
}

static void put_text(struct fw_str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fw_str_puts(out, "&lt;");
		else if (*text == '&')
			fw_str_puts(out, "&amp;");
		else if (*text == '>')
			fw_str_puts(out, "&gt;");
		else
			fw_str_putc(out, (unsigned char)(*text - 0x20) < 0x5f ? *text : '?');
	}
}

static void put_label(struct fw_str *out, double x, double y, const char *anchor, const char *text)
{
	fw_str_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	put_text(out, text);
	fw_str_puts(out, "</text>\n");
}

/* A line across, and the time at its left. */
static void put_time(struct fw_str *out, const struct axis *axis, double seconds)
{
	double y = y_of(axis, seconds);
	char text[32];

	fw_str_printf(out,
		      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n",
		      LEFT, y, WIDTH - RIGHT, y);
	snprintf(text, sizeof(text), "%.4g us", seconds * 1e6);
	put_label(out, LEFT - 6, y + 4, "end", text);
}

static void put_axes(struct fw_str *out, const struct axis *axis)
{
	static const double steps[] = { 1, 2, 5 };
	char text[64];

	for (int i = 0; i <= 4; i++) {
		double x = x_of(i / 4.);

		fw_str_printf(out,
			      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
			      "stroke=\"#ddd\"/>\n",
			      x, TOP, x, HEIGHT - BOTTOM);
		snprintf(text, sizeof(text), "%d %%", 25 * i);
		put_label(out, x, HEIGHT - BOTTOM + 20, "middle", text);
	}
	put_label(out, x_of(0.5), HEIGHT - 15, "middle", "theoretical occupancy");
	put_time(out, axis, axis->least);
	put_time(out, axis, axis->most);
	for (int power = (int)floor(axis->low); power <= (int)ceil(axis->high); power++)
		for (int s = 0; s < 3; s++) {
			double y = y_of(axis, steps[s] * pow(10, power));

			/* Not over the two that are there. */
			if (y > y_of(axis, axis->most) + LABEL &&
			    y < y_of(axis, axis->least) - LABEL)
				put_time(out, axis, steps[s] * pow(10, power));
		}
}

static void put_config(struct fw_str *out, const struct fw_tune_spec *spec,
		       const struct fw_tune_entry *e)
{
	for (uint32_t p = 0; p < spec->space.n_params; p++) {
		const struct fw_tune_param *param = &spec->space.params[p];

		put_text(out, p ? " " : "");
		put_text(out, param->name);
		put_text(out, "=");
		put_text(out, param->values[e->result.config.value[p]].text);
	}
}

static void put_point(struct fw_str *out, const struct fw_tune_spec *spec,
		      const struct fw_tune_report *report, size_t i, const struct axis *axis)
{
	const struct fw_tune_entry *e = fw_tune_entry(report, i);
	const char *colour = "#4878a8\" fill-opacity=\"0.5";
	double radius = 3;

	if ((ptrdiff_t)i == report->winner) {
		colour = "#c03028";
		radius = 6;
	} else if ((ptrdiff_t)i == report->preset) {
		colour = "#202020";
		radius = 6;
	}
	fw_str_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"><title>",
		      x_of(e->result.occupancy), y_of(axis, seconds_of(e)), radius, colour);
	fw_str_printf(out, "%.4g us: ", 1e6 * seconds_of(e));
	put_config(out, spec, e);
	fw_str_puts(out, "</title></circle>\n");
}

static struct axis find_axis(const struct fw_tune_report *report)
{
	struct axis axis = { .least = INFINITY };

	for (size_t i = 0; i < report->entries.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, i);

		if (!is_shown(e))
			continue;
		axis.least = fmin(axis.least, seconds_of(e));
		axis.most = fmax(axis.most, seconds_of(e));
		axis.n++;
	}
	/* A margin, and never a span of nothing. */
	axis.low = log10(axis.least) - 0.02;
	axis.high = log10(axis.most) + 0.02;
	return axis;
}

static void put_points(struct fw_str *out, const struct fw_tune_spec *spec,
		       const struct fw_tune_report *report, const struct axis *axis)
{
	for (size_t i = 0; i < report->entries.len; i++)
		if (is_shown(fw_tune_entry(report, i)) && (ptrdiff_t)i != report->winner &&
		    (ptrdiff_t)i != report->preset)
			put_point(out, spec, report, i, axis);
	/* On top of the others. */
	if (report->preset >= 0 && is_shown(fw_tune_entry(report, (size_t)report->preset)))
		put_point(out, spec, report, (size_t)report->preset, axis);
	if (report->winner >= 0 && is_shown(fw_tune_entry(report, (size_t)report->winner)))
		put_point(out, spec, report, (size_t)report->winner, axis);
}

fw_status fw_tune_plot(const struct fw_tune_spec *spec, const struct fw_tune_report *report,
		       struct fw_str *out, struct fw_error *err)
{
	struct axis axis = find_axis(report);
	char title[256];

	if (!axis.n)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "nothing to plot: no configuration has a time and an occupancy");
	snprintf(title, sizeof(title),
		 "%.80s on %.60s: %u configurations (red: chosen, black: default)", spec->kernel,
		 report->gpu.name, axis.n);
	fw_str_printf(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
		      "font-family=\"sans-serif\" font-size=\"13\">\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		      WIDTH, HEIGHT);
	put_label(out, WIDTH / 2, 25, "middle", title);
	put_axes(out, &axis);
	put_points(out, spec, report, &axis);
	fw_str_puts(out, "</svg>\n");
	return out->failed ? fw_fail_nomem(err, out->len) : FW_OK;
}
