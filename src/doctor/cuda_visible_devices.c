/* cuda-visible-devices: CUDA reads the list up to the first entry that names no GPU. */
#include "doctor/check.h"

#include <string.h>

#define ENTRIES 64u

static bool is_uuid(const char *entry)
{
	return !strncmp(entry, "GPU-", 4) || !strncmp(entry, "MIG-", 4);
}

/* A number or the beginning of a UUID of a GPU that NVML shows; true too where NVML does not know. */
static bool names_gpu(const struct fw_host *host, const char *entry, bool *is_checked)
{
	const struct fw_gpus *gpus = &host->gpus;
	uint64_t number;

	*is_checked = gpus->was_asked && !gpus->why[0] && strncmp(entry, "MIG-", 4);
	if (fw_host_number(entry, &number))
		return !entry[strspn(entry, "0123456789")] &&
		       (!*is_checked || number < gpus->count);
	if (!is_uuid(entry))
		return false;
	for (unsigned i = 0; *is_checked && i < gpus->read; i++)
		if (!strncmp(gpus->gpus[i].id.uuid, entry, strlen(entry)))
			return true;
	return !*is_checked;
}

static bool is_repeated(const char *const *entries, unsigned at)
{
	for (unsigned i = 0; i < at; i++)
		if (!strcmp(entries[i], entries[at]))
			return true;
	return false;
}

static void judge(struct fw_host *host, const char *value, struct fw_doctor_result *result)
{
	const char *entries[ENTRIES], *p = value;
	bool is_checked = true;
	unsigned count = 0;

	while (count < ENTRIES) {
		size_t len;
		bool is_sure;

		p += strspn(p, " ");
		len = strcspn(p, ", ");
		entries[count] = fw_host_text(host, "%.*s", (int)len, p);
		if (is_repeated(entries, count)) {
			fw_doctor_problem(result,
					  "CUDA_VISIBLE_DEVICES=%s names %s twice: CUDA "
					  "shows no GPU",
					  value, entries[count]);
			fw_doctor_fix(result, "name each GPU once");
			return;
		}
		if (!names_gpu(host, entries[count], &is_sure)) {
			fw_doctor_problem(result,
					  "CUDA_VISIBLE_DEVICES=%s: '%s' names no GPU, so "
					  "CUDA shows only the %u before it",
					  value, entries[count], count);
			fw_doctor_fix(result, "nvidia-smi -L lists numbers and UUIDs; numbers in a "
					      "container begin at 0");
			return;
		}
		is_checked = is_checked && is_sure;
		count++;
		p += len + strspn(p + len, " ");
		if (*p != ',')
			break;
		p++;
	}
	if (is_checked)
		fw_doctor_ok(result, "%s: %u GPU%s", value, count, count == 1 ? "" : "s");
	else
		fw_doctor_unknown(result, "%s is well formed, but NVML cannot confirm it", value);
}

void fw_check_cuda_visible_devices(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *value;

	if (!fw_doctor_has_environment(host, result))
		return;
	value = fw_host_env(host, "CUDA_VISIBLE_DEVICES");
	if (!value) {
		fw_doctor_ok(result, "not set: CUDA shows every GPU");
	} else if (!*value || *value == '-' || !strcmp(value, "NoDevFiles")) {
		fw_doctor_problem(result, "CUDA_VISIBLE_DEVICES is %s: CUDA shows no GPU",
				  *value ? value : "empty");
		fw_doctor_fix(result, "unset CUDA_VISIBLE_DEVICES");
	} else {
		judge(host, value, result);
	}
}
