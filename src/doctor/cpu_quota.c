/* cpu-quota: a control group that lets many threads start and then stops them all. */
#include "doctor/check.h"
#include "doctor/quota.h"

void fw_check_cpu_quota(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_quota quota = fw_quota_find(host);
	unsigned cores = fw_host_cores(host);
	double percent;

	if (!quota.is_known || !cores) {
		fw_doctor_unknown(result, "%s",
				  cores ? "the control group of this process is not "
					  "found"
					: "/proc/self/status does not name the cores");
		return;
	}
	if (quota.cores <= 0 || quota.cores >= cores) {
		fw_doctor_ok(result, "%u core%s, no quota below that", cores,
			     cores == 1 ? "" : "s");
		return;
	}
	percent = quota.periods ? 100.0 * (double)quota.stopped / (double)quota.periods : 0;
	if (quota.periods && percent < 1) {
		fw_doctor_ok(result, "%.1f of %u cores, stopped in %.1f %% of the periods",
			     quota.cores, cores, percent);
		return;
	}
	if (!quota.periods) {
		fw_doctor_unknown(result,
				  "%.1f of %u cores; how often it stopped the process is not "
				  "told",
				  quota.cores, cores);
		return;
	}
	fw_doctor_problem(result,
			  "%.1f of %u cores, and the quota stopped all threads in %.0f %% of "
			  "the periods: launches and loaders stall for tens of ms",
			  quota.cores, cores, percent);
	fw_doctor_fix(result,
		      "start no more threads than the quota: OMP_NUM_THREADS, "
		      "torch.set_num_threads and loader workers together at most %.0f; or "
		      "raise it (docker --cpus, Kubernetes limits.cpu)",
		      quota.cores < 1 ? 1 : quota.cores);
}
