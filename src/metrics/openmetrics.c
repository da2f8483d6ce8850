/* OpenMetrics text: https://prometheus.io/docs/specs/om/open_metrics_spec/ (version 1.0). */
#include "metrics/openmetrics.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Escapes text for a help line or a label's value. */
static void put_escaped(struct fw_str *out, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		size_t n = fw_utf8_length(text, len);

		if (!n) {
			fw_str_puts(out, "\xEF\xBF\xBD");
			n = 1;
		} else if (*text == '\n') {
			fw_str_puts(out, "\\n");
		} else {
			if (*text == '\\' || *text == '"')
				fw_str_putc(out, '\\');
			fw_str_append(out, text, n);
		}
		text += n;
		len -= n;
	}
}

/* The shortest of 15 to 17 digits that reads back as the same number. */
static void put_number(struct fw_str *out, double value)
{
	char text[32];

	if (isnan(value)) {
		fw_str_puts(out, "NaN");
		return;
	}
	if (isinf(value)) {
		fw_str_puts(out, value > 0 ? "+Inf" : "-Inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fw_str_puts(out, text);
}

static void put_label(struct fw_str *out, const char *name, const char *value, bool is_first)
{
	fw_str_printf(out, "%s%s=\"", is_first ? "" : ",", name);
	put_escaped(out, value);
	fw_str_putc(out, '"');
}

/* name, suffix and labels up to the space before the value; bound: the value of "le", NULL: none. */
static void put_head(struct fw_openmetrics *writer, const char *suffix,
		     const struct fw_metric_label *labels, size_t count, const char *bound)
{
	struct fw_str *out = writer->out;

	fw_str_printf(out, "%s%s", writer->family->name, suffix);
	if (count || bound) {
		fw_str_putc(out, '{');
		for (size_t i = 0; i < count; i++)
			put_label(out, labels[i].name, labels[i].value, !i);
		if (bound)
			put_label(out, "le", bound, !count);
		fw_str_putc(out, '}');
	}
	fw_str_putc(out, ' ');
}

static const char *suffix_of(enum fw_metric_type type)
{
	static const char *const suffixes[] = { [FW_METRIC_GAUGE] = "",
						[FW_METRIC_COUNTER] = "_total",
						[FW_METRIC_HISTOGRAM] = "",
						[FW_METRIC_INFO] = "_info" };

	return suffixes[type];
}

void fw_openmetrics_family(struct fw_openmetrics *writer, const struct fw_metric_family *family)
{
	static const char *const types[] = { [FW_METRIC_GAUGE] = "gauge",
					     [FW_METRIC_COUNTER] = "counter",
					     [FW_METRIC_HISTOGRAM] = "histogram",
					     [FW_METRIC_INFO] = "info" };

	writer->family = family;
	fw_str_printf(writer->out, "# TYPE %s %s\n", family->name, types[family->type]);
	if (family->unit)
		fw_str_printf(writer->out, "# UNIT %s %s\n", family->name, family->unit);
	fw_str_printf(writer->out, "# HELP %s ", family->name);
	put_escaped(writer->out, family->help);
	fw_str_putc(writer->out, '\n');
}

void fw_openmetrics_value(struct fw_openmetrics *writer, const struct fw_metric_label *labels,
			  size_t count, double value)
{
	put_head(writer, suffix_of(writer->family->type), labels, count, NULL);
	put_number(writer->out, value);
	fw_str_putc(writer->out, '\n');
}

void fw_openmetrics_count(struct fw_openmetrics *writer, const struct fw_metric_label *labels,
			  size_t count, uint64_t value)
{
	put_head(writer, suffix_of(writer->family->type), labels, count, NULL);
	fw_str_printf(writer->out, "%" PRIu64 "\n", value);
}

/* A bucket's bound is written as a float ("1.0"), as the standard wants it. */
static void put_bound(char text[40], double bound)
{
	struct fw_str number = { 0 };

	put_number(&number, bound);
	snprintf(text, 40, "%s%s", fw_str_text(&number),
		 strpbrk(fw_str_text(&number), ".e") ? "" : ".0");
	fw_str_release(&number);
}

void fw_openmetrics_histogram(struct fw_openmetrics *writer, const struct fw_metric_label *labels,
			      size_t count, const struct fw_histogram *histogram)
{
	uint64_t sum = 0;

	for (size_t i = 0; i <= histogram->count; i++) {
		char bound[40] = "+Inf";

		if (i < histogram->count)
			put_bound(bound, histogram->bounds[i]);
		sum += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
		put_head(writer, "_bucket", labels, count, bound);
		fw_str_printf(writer->out, "%" PRIu64 "\n", sum);
	}
	put_head(writer, "_count", labels, count, NULL);
	fw_str_printf(writer->out, "%" PRIu64 "\n", sum);
	put_head(writer, "_sum", labels, count, NULL);
	put_number(writer->out, fw_gauge_read(&histogram->sum));
	fw_str_putc(writer->out, '\n');
}

void fw_openmetrics_end(struct fw_openmetrics *writer)
{
	fw_str_puts(writer->out, "# EOF\n");
}
