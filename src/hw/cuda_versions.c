#include "hw/cuda_versions.h"

#include <stdlib.h>
#include <string.h>

struct row {
	unsigned cuda;
	const char *driver, *forward;
};

static const struct row rows[] = {
#define FW_CUDA_VERSION(cuda, driver, forward) { cuda, driver, forward },
#include "hw/cuda_versions.def"
#undef FW_CUDA_VERSION
};

/*
 * Oldest drivers for minor-version compatibility (Release Notes, "CUDA Toolkit and Minimum Required
 * Driver Version for CUDA Minor Version Compatibility"; 13.x: any of branch 580).
 */
static const struct row floors[] = {
	{ 11, "450.80.02", NULL },
	{ 12, "525.60.13", NULL },
	{ 13, "580.0", NULL },
};

bool fw_driver_version_parse(const char *text, struct fw_driver_version *version)
{
	int parts = 0;

	*version = (struct fw_driver_version){ { 0 } };
	while (parts < 3) {
		unsigned n = 0, digits = 0;

		for (; *text >= '0' && *text <= '9' && digits < 6; text++, digits++)
			n = n * 10 + (unsigned)(*text - '0');
		if (!digits)
			break;
		version->part[parts++] = n;
		if (*text != '.')
			break;
		text++;
	}
	return parts >= 2;
}

int fw_driver_version_compare(const struct fw_driver_version *a, const struct fw_driver_version *b)
{
	for (int i = 0; i < 3; i++)
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	return 0;
}

static bool reaches(const struct fw_driver_version *driver, const char *least)
{
	struct fw_driver_version version;

	return fw_driver_version_parse(least, &version) &&
	       fw_driver_version_compare(driver, &version) >= 0;
}

static const struct row *find(unsigned cuda)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].cuda == cuda)
			return &rows[i];
	return NULL;
}

const char *fw_hw_cuda_native_driver(unsigned cuda)
{
	const struct row *row = find(cuda);

	return row ? row->driver : NULL;
}

const char *fw_hw_cuda_floor_driver(unsigned cuda)
{
	for (size_t i = 0; i < sizeof(floors) / sizeof(floors[0]); i++)
		if (floors[i].cuda == cuda / 10)
			return floors[i].driver;
	return NULL;
}

/* branches: "535 570", each three digits. */
static bool has_branch(const char *branches, unsigned branch)
{
	for (const char *p = branches; *p; p += strspn(p, " ")) {
		char *end;

		if (strtoul(p, &end, 10) == branch)
			return true;
		if (end == p)
			return false;
		p = end;
	}
	return false;
}

enum fw_cuda_fit fw_hw_cuda_fit(unsigned cuda, const struct fw_driver_version *driver)
{
	const struct row *row = find(cuda);

	if (!row)
		return FW_CUDA_FIT_UNKNOWN;
	if (reaches(driver, row->driver))
		return FW_CUDA_FIT_NATIVE;
	if (reaches(driver, fw_hw_cuda_floor_driver(cuda)))
		return FW_CUDA_FIT_MINOR;
	return has_branch(row->forward, driver->part[0]) ? FW_CUDA_FIT_FORWARD
							 : FW_CUDA_FIT_TOO_OLD;
}
