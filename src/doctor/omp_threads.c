/* omp-threads: threads of OpenMP against the cores; too many stall under a quota, one is a bound too. */
#include "doctor/check.h"
#include "doctor/quota.h"

void fw_check_omp_threads(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_quota quota = fw_quota_find(host);
	unsigned cores = fw_host_cores(host), usable = cores;
	const char *value;
	uint64_t threads;

	if (!fw_doctor_has_environment(host, result))
		return;
	if (!cores) {
		fw_doctor_unknown(result, "/proc/self/status does not name the cores");
		return;
	}
	if (quota.cores > 0 && quota.cores < cores)
		usable = quota.cores < 1 ? 1 : (unsigned)quota.cores;
	value = fw_host_env(host, "OMP_NUM_THREADS");
	if (!value || !*value) {
		if (usable == cores) {
			fw_doctor_ok(result, "not set: one thread a core (%u)", cores);
			return;
		}
		fw_doctor_problem(result,
				  "not set, so OpenMP starts %u threads where the quota "
				  "lets %u run",
				  cores, usable);
		fw_doctor_fix(result, "export OMP_NUM_THREADS=%u", usable);
	} else if (!fw_host_number(value, &threads) || !threads) {
		fw_doctor_problem(result, "OMP_NUM_THREADS=%s is not a number of threads", value);
		fw_doctor_fix(result, "export OMP_NUM_THREADS=%u", usable);
	} else if (threads > usable) {
		fw_doctor_problem(result, "OMP_NUM_THREADS=%s, but %u core%s may be used", value,
				  usable, usable == 1 ? "" : "s");
		fw_doctor_fix(result, "export OMP_NUM_THREADS=%u", usable);
	} else if (threads == 1 && usable >= 4) {
		fw_doctor_problem(result,
				  "OMP_NUM_THREADS=1 (Slurm hooks and torchrun set it): CPU "
				  "work of the main process keeps to one of %u cores",
				  usable);
		fw_doctor_fix(result,
			      "where loader workers do the work, one thread each is right; "
			      "where the main process does it, try OMP_NUM_THREADS=%u and "
			      "measure",
			      usable / 2);
	} else {
		fw_doctor_ok(result, "OMP_NUM_THREADS=%s of %u core%s", value, usable,
			     usable == 1 ? "" : "s");
	}
}
