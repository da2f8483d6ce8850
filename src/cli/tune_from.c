/* fullwarp tune --from TRACE: the kernels whose launch could be tuned, and those whose launch is not ours. */
#include "cli/tune.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "cli/inputs.h"
#include "fullwarp/occupancy.h"
#include "import/import.h"
#include "report/names.h"
#include "tune/candidates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Kernels with less of the time than this are counted, not listed. */
#define SHARE_LEAST 0.005

/* Losses under this are not worth a line. */
#define SIGN_SHOWN 0.01

struct view {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	const struct fw_tune_settings *settings;
	struct fw_arena *names;
	struct fw_str *out;
	double all_ns; /* time of all kernels */
};

static struct fw_tune_candidate candidate(const struct view *view, size_t row)
{
	return fw_tune_candidate_of(view->ledger, view->device, row, view->all_ns);
}

/* Names come from the trace: any bytes. */
static void put_name(const struct view *view, const struct fw_kernel_row *row)
{
	const char *name =
		fw_short_name(view->names, fw_trace_text(view->ledger->trace, row->name));
	size_t len = strlen(name);

	len = len > 200 ? 200 : len;
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = fw_utf8_printable(name + i, len - i);
		if (n)
			fw_str_append(view->out, name + i, n);
		else
			fw_str_putc(view->out, '?');
	}
}

static void put_signs(const struct view *view, const struct fw_tune_candidate *c)
{
	const struct fw_trace *t = view->ledger->trace;
	const char *limiter = NULL;

	for (uint32_t bit = 1; bit && bit <= c->row->limiters && !limiter; bit <<= 1)
		limiter = c->row->limiters & bit ? fw_limiter_name(bit) : NULL;
	if (c->empty_sms >= SIGN_SHOWN)
		fw_str_printf(
			view->out,
			"      the grid has fewer blocks than the GPU has SMs: %.0f %% of the %d "
			"get none\n",
			100 * c->empty_sms, t->devices.sms[view->device->device]);
	if (c->tail >= SIGN_SHOWN)
		fw_str_printf(
			view->out,
			"      %.2f waves: at most %.0f %% of its time is the last one's empty "
			"places (model)\n",
			c->row->waves, 100 * c->tail);
	if (c->idle_lanes >= SIGN_SHOWN)
		fw_str_printf(
			view->out,
			"      the block is no multiple of 32 threads: %.0f %% of its lanes are "
			"idle\n",
			100 * c->idle_lanes);
	if (c->has_low_occupancy)
		fw_str_printf(view->out, "      theoretical occupancy %.0f %%, limited by %s\n",
			      100 * c->row->occupancy, limiter ? limiter : "an unknown limit");
}

static void put_kernel(const struct view *view, const struct fw_tune_candidate *c)
{
	const struct fw_trace_shapes *s = &view->ledger->trace->shapes;
	uint32_t shape = c->row->shape;

	fw_str_printf(view->out, "  %5.1f %%  %" PRId64 " x %.4g us  ", 100 * c->share,
		      c->row->count, (double)c->row->total_ns / (double)c->row->count / 1e3);
	put_name(view, c->row);
	if (shape == FW_NONE)
		fw_str_puts(view->out, "  launch unknown\n");
	else
		fw_str_printf(view->out, "  grid %ux%ux%u block %ux%ux%u\n", s->grid_x[shape],
			      s->grid_y[shape], s->grid_z[shape], s->block_x[shape],
			      s->block_y[shape], s->block_z[shape]);
	put_signs(view, c);
}

enum group { WITH_SIGNS, NOT_LOOKED_AT, WITHOUT_SIGNS };

/* What could not be looked at is no good launch. */
static enum group group_of(const struct fw_tune_candidate *c)
{
	if (fw_tune_has_sign(c))
		return WITH_SIGNS;
	return c->empty_sms < 0 || c->row->occupancy < 0 ? NOT_LOOKED_AT : WITHOUT_SIGNS;
}

/* The user's own kernels of one group; those of little time are counted. False: there are none. */
static bool put_own(const struct view *view, enum group group)
{
	static const char *const heads[] = {
		[WITH_SIGNS] = "Tuning could pay: own kernels with a sign in their launch",
		[NOT_LOOKED_AT] = "Own kernels whose launch, or whose GPU, the trace does not "
				  "describe: nothing can be said",
		[WITHOUT_SIGNS] = "Own kernels without a sign in their launch: only tiles and the "
				  "like could gain"
	};
	uint64_t listed = 0, small = 0;
	double small_share = 0;

	for (size_t i = 0; i < view->device->kernel_count; i++) {
		struct fw_tune_candidate c = candidate(view, i);

		if (c.owner != FW_TUNE_OWN || group_of(&c) != group)
			continue;
		if (!listed && !small)
			fw_str_printf(view->out, "\n%s\n", heads[group]);
		if (c.share < SHARE_LEAST || listed == view->settings->top) {
			small++;
			small_share += c.share;
		} else {
			put_kernel(view, &c);
			listed++;
		}
	}
	if (small)
		fw_str_printf(view->out, "  %5.1f %%  %" PRIu64 " more, of less time\n",
			      100 * small_share, small);
	return listed || small;
}

static void put_others(const struct view *view)
{
	double shares[FW_TUNE_OWNERS] = { 0 };
	uint64_t counts[FW_TUNE_OWNERS] = { 0 };
	bool has_any = false;

	for (size_t i = 0; i < view->device->kernel_count; i++) {
		struct fw_tune_candidate c = candidate(view, i);

		shares[c.owner] += c.share;
		counts[c.owner]++;
	}
	for (int o = FW_TUNE_OWN + 1; o < FW_TUNE_OWNERS; o++) {
		if (!counts[o])
			continue;
		if (!has_any)
			fw_str_puts(view->out, "\nNot tunable here:\n");
		has_any = true;
		fw_str_printf(view->out, "  %5.1f %%  %s (kernels and launches: %" PRIu64 "): %s\n",
			      100 * shares[o], fw_tune_owner_name((enum fw_tune_owner)o), counts[o],
			      fw_tune_owner_reason((enum fw_tune_owner)o));
	}
}

static void put_text(const struct view *view)
{
	const struct fw_trace *t = view->ledger->trace;
	const char *name = fw_trace_text(t, t->devices.name[view->device->device]);

	fw_str_puts(view->out, "kernels of ");
	for (const char *c = name[0] ? name : "a GPU that the trace does not describe"; *c; c++)
		fw_str_putc(view->out, (unsigned char)(*c - 0x20) < 0x5f ? *c : '?');
	if (view->ledger->device_count > 1)
		fw_str_printf(view->out, ", the busiest of %zu", view->ledger->device_count);
	fw_str_puts(view->out, ", by their share of the kernels' time; whose a kernel is, its name "
			       "tells\n");
	if (!put_own(view, WITH_SIGNS))
		fw_str_puts(view->out, "\nNo own kernel was seen to have a sign in its launch that "
				       "another one would be faster.\n");
	put_own(view, NOT_LOOKED_AT);
	put_own(view, WITHOUT_SIGNS);
	put_others(view);
}

static void put_share(struct fw_json *json, const char *key, double share)
{
	if (share >= 0)
		fw_json_double(json, key, share);
	else
		fw_json_null(json, key);
}

static void put_json_row(const struct view *view, struct fw_json *json,
			 const struct fw_tune_candidate *c)
{
	fw_json_begin_object(json, NULL);
	fw_json_string(json, "kernel", fw_trace_text(view->ledger->trace, c->row->name));
	fw_json_string(json, "owner", fw_tune_owner_name(c->owner));
	fw_json_double(json, "share", c->share);
	fw_json_int(json, "count", c->row->count);
	fw_json_int(json, "total_ns", c->row->total_ns);
	if (group_of(c) == NOT_LOOKED_AT)
		fw_json_null(json, "has_sign");
	else
		fw_json_bool(json, "has_sign", group_of(c) == WITH_SIGNS);
	put_share(json, "empty_sms", c->empty_sms);
	put_share(json, "tail", c->tail);
	put_share(json, "idle_lanes", c->idle_lanes);
	put_share(json, "occupancy", c->row->occupancy);
	fw_json_end_object(json);
}

static void put_json(const struct view *view)
{
	struct fw_json json = { .out = view->out, .indent = 2 };

	fw_json_begin_object(&json, NULL);
	fw_json_int(&json, "schema", 1);
	fw_json_begin_array(&json, "kernels");
	for (size_t i = 0; i < view->device->kernel_count; i++) {
		struct fw_tune_candidate c = candidate(view, i);

		put_json_row(view, &json, &c);
	}
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(view->out, '\n');
}

static const struct fw_device_ledger *busiest(const struct fw_ledger *ledger)
{
	const struct fw_device_ledger *best = NULL;

	for (size_t i = 0; i < ledger->device_count; i++)
		if (ledger->devices[i].kernel_count &&
		    (!best || ledger->devices[i].kernel_busy_ns > best->kernel_busy_ns))
			best = &ledger->devices[i];
	return best;
}

static fw_status write_out(const struct fw_ledger *ledger, const struct fw_tune_settings *settings,
			   const char *path, struct fw_error *err)
{
	struct fw_arena names = { 0 };
	struct fw_str text = { 0 };
	struct view view = { ledger, busiest(ledger), settings, &names, &text, 0 };
	fw_status status = FW_OK;

	if (!view.device)
		status = fw_fail(err, FW_ERR_FORMAT, "%s: no kernel in it", path);
	else
		view.all_ns = fw_tune_kernels_ns(view.device);
	if (!status && settings->is_json)
		put_json(&view);
	else if (!status)
		put_text(&view);
	if (!status && text.failed)
		status = fw_fail_nomem(err, text.len);
	if (!status)
		fputs(fw_str_text(&text), stdout);
	fw_str_release(&text);
	fw_arena_release(&names);
	return status;
}

int fw_tune_command_from(const struct fw_tune_arguments *args,
			 const struct fw_tune_settings *settings)
{
	struct fw_inputs inputs = { .paths = FW_VEC(const char *) };
	const struct fw_ledger_options options = { 0 };
	struct fw_ledger *ledger = NULL;
	struct fw_trace *trace = NULL;
	struct fw_error err = { 0 };
	fw_status status = fw_inputs_add(&inputs, args->from, &err);

	if (!status)
		status = fw_import_files(inputs.paths.data, inputs.paths.len, NULL, &trace, &err);
	if (!status && !trace->ops.len)
		status = fw_fail(&err, FW_ERR_FORMAT, "%s: no GPU operation in it", args->from);
	if (!status)
		status = fw_ledger_build(trace, &options, &ledger, &err);
	if (!status)
		status = write_out(ledger, settings, args->from, &err);
	fw_ledger_destroy(ledger);
	if (trace)
		fw_trace_destroy(trace);
	fw_inputs_release(&inputs);
	return status ? fw_tune_failure(&err) : 0;
}
