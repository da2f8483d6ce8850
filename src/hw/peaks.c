/* What a GPU can do at most, by product name. */
#include "hw/peaks.h"

#include <stdio.h>
#include <string.h>

static const struct fw_hw_peak table[] = {
#define FW_HW_PEAK(name, variant, fp32, tensor, gb_s, source)                                      \
	{ name, variant, fp32, tensor, gb_s, source },
#include "hw/peaks.def"
#undef FW_HW_PEAK
};

#define ROWS (sizeof(table) / sizeof(table[0]))

fw_status fw_hw_peak_find(const char *name, const struct fw_hw_peak **peak, struct fw_error *err)
{
	const struct fw_hw_chip *chip;
	fw_status status = fw_hw_chip_find(name, &chip, err);
	char list[256] = "";
	size_t used = 0;

	if (status)
		return status;
	for (size_t i = 0; i < ROWS; i++) {
		if (!strcmp(table[i].name, chip->name)) {
			*peak = &table[i];
			return FW_OK;
		}
		if (used + 20 < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", table[i].name);
	}
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       "the peak rates of GPU '%s' are not in the table, which has %s", chip->name,
		       list);
}

const struct fw_hw_peak *fw_hw_peaks_all(size_t *count)
{
	*count = ROWS;
	return table;
}
