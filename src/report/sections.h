#ifndef FW_REPORT_SECTIONS_H
#define FW_REPORT_SECTIONS_H
/* The parts of the text report, each put on a page. */
#include "report/page.h"
#include "report/report.h"

/* Bar tables of one device: the ledger, and how full the GPU can have been while it computed. */
void fw_text_ledger(struct fw_page *page, const struct fw_device_ledger *device);
void fw_text_fill(struct fw_page *page, const struct fw_device_ledger *device);

/* What the counters measured, if any were sampled: of the window, the steps, single kernels. */
void fw_text_counters(struct fw_page *page, const struct fw_report *report, size_t device);

/* What the time before the window went into, as far as the trace tells; nothing where it does not. */
void fw_text_before(struct fw_page *page, const struct fw_report *report, size_t device);

/* A table of all devices, by rank. */
void fw_text_devices(struct fw_page *page, const struct fw_report *report);

/*
 * The devices of which there is a section of their own, as indices into ledger->devices, the idlest
 * first if they are not all; says on the page which they are. NULL: memory is out.
 */
const size_t *fw_text_choose_devices(struct fw_page *page, const struct fw_report *report,
				     bool is_all, size_t *count);

/* At most `rows` kernels of one device; 0: 15. */
void fw_text_kernels(struct fw_page *page, const struct fw_trace *trace,
		     const struct fw_device_ledger *device, unsigned rows);

/* The findings of one device (index into ledger->devices), or of the whole trace: FW_NONE. */
void fw_text_findings(struct fw_page *page, const struct fw_report *report, uint32_t device);

/* What the trace could not show and which rules could not look; what was skipped while reading. */
void fw_text_blind_spots(struct fw_page *page, const struct fw_report *report);
void fw_text_integrity(struct fw_page *page, const struct fw_trace *trace);

/* What every class and number means. */
void fw_text_explanation(struct fw_page *page);

/* Sums of the idle classes, and all classes together, of a device. */
int64_t fw_idle_ns(const struct fw_device_ledger *device);
int64_t fw_window_ns(const struct fw_device_ledger *device);

#endif
