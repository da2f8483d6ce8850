/* The orientation in EXIF data, alone and inside a JPEG. */
#include "pipeline/image_exif.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(uint32_t orientation)
{
	if (orientation < 1 || orientation > 8)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(fw_exif_orientation(data, size));
	check(fw_exif_orientation_of_jpeg(data, size));
	return 0;
}
