/* What every class and number of a report means. */
#include "report/sections.h"

#define INDENT 20

struct term {
	const char *name, *text;
};

static const struct term numbers[] = {
	{ "window",
	  "the part of the trace that is analysed: the steady steps, without warm-up, unless "
	  "--all or --window says otherwise" },
	{ "GPU busy", "share of the window in which at least one kernel ran; nvidia-smi calls this "
		      "utilisation" },
	{ "full (model)",
	  "share of the window in which kernels ran that can fill the GPU; computed "
	  "from grid, block, registers and shared memory, never measured" },
	{ "idle", "share of the window in which the GPU ran nothing: no kernel, copy or memset" },
	{ "cost",
	  "idle or exposed time that the cause brought about; costs of findings may overlap, "
	  "so they do not add up" },
	{ "at most", "upper bound of what removing the cause can gain: the GPU's own work and the "
		     "rest of the host's work remain; a bound, not a prediction" },
	{ "occupancy",
	  "theoretical: resident warps an SM can hold of this kernel, of the most it can "
	  "hold; a limit, not a goal" },
	{ "time, count, mean", "of all launches of a kernel with one configuration in the window" },
	{ "unknown, ?", "the trace does not tell; never zero" },
};

static void put_terms(struct fw_page *page, const struct term *terms, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fw_page_item(page, fw_page_text(page, "  %s", terms[i].name), INDENT,
			     terms[i].text);
}

static void put_classes(struct fw_page *page, bool is_idle)
{
	for (unsigned c = 0; c < FW_CLASS_COUNT; c++) {
		struct term term = { fw_class_id((enum fw_class)c),
				     fw_class_text((enum fw_class)c) };

		if (fw_class_is_idle((enum fw_class)c) == is_idle)
			put_terms(page, &term, 1);
	}
}

void fw_text_explanation(struct fw_page *page)
{
	fw_page_heading(page, "What the numbers mean");
	put_terms(page, numbers, sizeof(numbers) / sizeof(numbers[0]));
	fw_page_heading(page, "The GPU was busy: the first that applies owns the time");
	put_classes(page, false);
	fw_page_heading(page, "The GPU was idle: why the next operation had not started");
	put_classes(page, true);
	fw_page_heading(page, "How full the compute time can have been (model)");
	for (unsigned f = 0; f < FW_FILL_COUNT; f++) {
		struct term term = { fw_fill_id((enum fw_fill)f), fw_fill_text((enum fw_fill)f) };

		put_terms(page, &term, 1);
	}
}

void fw_write_explanation(const struct fw_report_style *style, struct fw_str *out)
{
	struct fw_page page;

	fw_page_init(&page, style, out);
	fw_text_explanation(&page);
	fw_page_release(&page);
}
