/* A GPU's lines. */
#include "sample/clocks.h"
#include "top/format.h"
#include "top/view.h"

#include <string.h>

/* "NVIDIA H200": the maker's name says nothing here. */
static const char *model_name(const struct fw_top_gpu *gpu)
{
	const char *name = gpu->sample.identity.name;

	if (!name[0])
		return "?";
	return strncmp(name, "NVIDIA ", 7) ? name : name + 7;
}

static enum fw_view_style verdict_style(const struct fw_verdict *verdict)
{
	switch (verdict->kind) {
	case FW_VERDICT_FULL: return FW_VIEW_GOOD;
	case FW_VERDICT_NOT_FULL:
	case FW_VERDICT_TROUBLE: return FW_VIEW_BAD;
	default: return FW_VIEW_PLAIN;
	}
}

static void put_number(struct fw_str *out, struct fw_value value, const char *unit)
{
	char text[FW_FORMAT_BYTES];

	fw_format_count(text, value);
	fw_str_printf(out, "%s%s", text, unit);
}

static void put_reasons(struct fw_str *out, const struct fw_gpu_sample *sample)
{
	const struct fw_clocks_reason *reason;

	if (!sample->has_reasons) {
		fw_str_puts(out, "throttle ?");
		return;
	}
	reason = fw_clocks_throttle(sample->reasons);
	fw_str_puts(out, reason ? reason->text : "not throttled");
}

static void put_state(struct fw_view *view, const struct fw_top_gpu *gpu, unsigned columns)
{
	const struct fw_value *v = gpu->sample.values;
	char used[FW_FORMAT_BYTES], total[FW_FORMAT_BYTES];

	fw_format_bytes_short(used, v[FW_GPU_MEMORY_USED]);
	fw_format_bytes_short(total, v[FW_GPU_MEMORY_TOTAL]);
	fw_view_begin(view, FW_VIEW_TITLE);
	fw_str_printf(&view->text, "GPU %u %s  %s/%sB  ", gpu->sample.index, model_name(gpu), used,
		      total);
	put_number(&view->text, v[FW_GPU_POWER], "/");
	put_number(&view->text, v[FW_GPU_POWER_LIMIT], " W  ");
	put_number(&view->text, v[FW_GPU_TEMPERATURE], " C  ");
	put_number(&view->text, v[FW_GPU_SM_CLOCK], "/");
	put_number(&view->text, v[FW_GPU_SM_CLOCK_MAX], " MHz  ");
	put_reasons(&view->text, &gpu->sample);
	fw_view_end(view, columns);
}

static void put_percent(struct fw_str *out, const char *name, struct fw_value value)
{
	char text[FW_FORMAT_BYTES];

	fw_format_percent(text, value);
	fw_str_printf(out, "%s %s", name, text);
}

static void put_units(struct fw_view *view, const struct fw_top_gpu *gpu, unsigned columns)
{
	const struct fw_value *v = gpu->sample.values;

	fw_view_begin(view, FW_VIEW_PLAIN);
	put_percent(&view->text, "  busy (nvidia-smi)", v[FW_GPU_BUSY]);
	put_percent(&view->text, " | SM", v[FW_GPU_SM_BUSY]);
	put_percent(&view->text, " | warp slots", v[FW_GPU_WARPS]);
	put_percent(&view->text, " | tensor", v[FW_GPU_TENSOR]);
	put_percent(&view->text, " | fp32", v[FW_GPU_FP32]);
	fw_view_end(view, columns);
}

static void put_rate(struct fw_str *out, const char *name, struct fw_value value)
{
	char text[FW_FORMAT_BYTES];

	fw_format_bytes_short(text, value);
	fw_str_printf(out, "%s %s", name, text);
}

static bool knows_none(const struct fw_value *v)
{
	static const enum fw_gpu_value shown[] = { FW_GPU_SM_BUSY,   FW_GPU_DRAM,
						   FW_GPU_PCIE_RX,   FW_GPU_PCIE_TX,
						   FW_GPU_NVLINK_RX, FW_GPU_NVLINK_TX };

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (fw_value_is_known(v[shown[i]]))
			return false;
	return true;
}

static void put_links(struct fw_view *view, const struct fw_top_gpu *gpu,
		      const struct fw_view_options *options)
{
	const struct fw_value *v = gpu->sample.values;

	fw_view_begin(view, FW_VIEW_PLAIN);
	if (options->is_live && knows_none(v)) { /* why is worth more than six question marks */
		fw_str_printf(&view->text, "  DRAM, PCIe, NVLink ?: %s", v[FW_GPU_SM_BUSY].note);
		fw_view_end(view, options->columns);
		return;
	}
	put_percent(&view->text, "  DRAM", v[FW_GPU_DRAM]);
	put_rate(&view->text, " | PCIe B/s in", v[FW_GPU_PCIE_RX]);
	put_rate(&view->text, " out", v[FW_GPU_PCIE_TX]);
	put_rate(&view->text, " | NVLink in", v[FW_GPU_NVLINK_RX]);
	put_rate(&view->text, " out", v[FW_GPU_NVLINK_TX]);
	if (options->is_live && fw_value_is_known(v[FW_GPU_SM_BUSY]))
		fw_str_printf(&view->text, " | by %s", v[FW_GPU_SM_BUSY].note);
	fw_view_end(view, options->columns);
}

static void put_bars(struct fw_view *view, const struct fw_top_gpu *gpu,
		     const struct fw_view_options *options)
{
	unsigned width = options->columns > 44 ? (options->columns - 28) / 4 : 4;

	if (width > FW_HISTORY_POINTS)
		width = FW_HISTORY_POINTS;
	fw_view_begin(view, FW_VIEW_PLAIN);
	fw_str_puts(&view->text, "  busy ");
	fw_format_bars(&view->text, &gpu->busy, width, 100, options->is_ascii);
	fw_str_puts(&view->text, " SM ");
	fw_format_bars(&view->text, &gpu->sm, width, 100, options->is_ascii);
	fw_str_puts(&view->text, " tensor ");
	fw_format_bars(&view->text, &gpu->tensor, width, 100, options->is_ascii);
	fw_str_puts(&view->text, " DRAM ");
	fw_format_bars(&view->text, &gpu->dram, width, 100, options->is_ascii);
	fw_view_end(view, options->columns);
}

/* Where the counters come from, or why there are none, and why not a better source. */
static void put_source(struct fw_view *view, const struct fw_top_gpu *gpu, unsigned columns)
{
	const struct fw_gpu_sample *sample = &gpu->sample;
	const char *note = sample->values[FW_GPU_SM_BUSY].note;

	fw_view_begin(view, FW_VIEW_DIM);
	fw_str_printf(&view->text, "  counters: %s", note);
	fw_view_end(view, columns);
	if (!sample->why_source[0] || !strcmp(sample->why_source, note))
		return;
	fw_view_begin(view, FW_VIEW_DIM);
	fw_str_printf(&view->text, "  no PM sampling: %s", sample->why_source);
	fw_view_end(view, columns);
}

void fw_view_gpu(struct fw_view *view, const struct fw_top_gpu *gpu,
		 const struct fw_view_options *options)
{
	put_state(view, gpu, options->columns);
	put_units(view, gpu, options->columns);
	put_links(view, gpu, options);
	if (options->is_live)
		put_bars(view, gpu, options);
	else
		put_source(view, gpu, options->columns);
	fw_view_begin(view, verdict_style(&gpu->verdict));
	fw_str_printf(&view->text, "  %s", gpu->verdict.text);
	fw_view_end(view, options->columns);
}

void fw_view_gpu_short(struct fw_view *view, const struct fw_top_gpu *gpu,
		       const struct fw_view_options *options)
{
	const struct fw_value *v = gpu->sample.values;

	fw_view_begin(view, verdict_style(&gpu->verdict));
	fw_str_printf(&view->text, "GPU %u %s", gpu->sample.index, model_name(gpu));
	put_percent(&view->text, "  busy", v[FW_GPU_BUSY]);
	put_percent(&view->text, " SM", v[FW_GPU_SM_BUSY]);
	put_percent(&view->text, " tensor", v[FW_GPU_TENSOR]);
	put_percent(&view->text, " DRAM", v[FW_GPU_DRAM]);
	fw_str_puts(&view->text, "  ");
	put_number(&view->text, v[FW_GPU_POWER], " W  ");
	fw_str_puts(&view->text, gpu->verdict.text);
	fw_view_end(view, options->columns);
}
