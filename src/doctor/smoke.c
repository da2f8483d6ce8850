/* smoke: a context, copies from pageable and pinned memory, launches: about a second on the first GPU. */
#include "doctor/check.h"
#include "doctor/smoke_measure.h"

/* A context of a large machine takes seconds. */
#define TIMEOUT_MS 30000

void fw_check_smoke(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_smoke measured;
	struct fw_error err;
	struct fw_cuda cuda;

	if (host->is_other) {
		fw_doctor_unknown(result, "another root has no GPU that could be tried");
		return;
	}
	if (fw_cuda_open(&cuda, &err)) {
		fw_doctor_unknown(result, "skipped: %s", err.message);
		return;
	}
	fw_smoke_measure(&cuda, TIMEOUT_MS, &measured);
	if (measured.failed[0]) {
		fw_doctor_problem(result, "failed: %s", measured.failed);
		fw_doctor_fix(result,
			      "the other checks name the usual causes; dmesg | grep -i -e nvrm "
			      "-e xid has the driver's words");
	} else {
		fw_doctor_ok(result,
			     "measured: context %.0f ms, host to GPU %.1f GB/s pageable and %.1f "
			     "GB/s pinned, %.1f us a launch",
			     measured.context_ms, measured.pageable_gb_s, measured.pinned_gb_s,
			     measured.launch_us);
	}
	fw_cuda_close(&cuda);
}
