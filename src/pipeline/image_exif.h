#ifndef FW_PIPELINE_IMAGE_EXIF_H
#define FW_PIPELINE_IMAGE_EXIF_H
/* The one thing that EXIF is read for: how the picture was held. Damaged EXIF never makes a picture unreadable. */
#include <stddef.h>
#include <stdint.h>

/* bytes: a TIFF header and its first directory. 1 to 8; 1 (as stored) where the tag is absent or not understood. */
uint32_t fw_exif_orientation(const uint8_t *bytes, size_t size);

/* The same of the first Exif segment before the first scan of a JPEG. */
uint32_t fw_exif_orientation_of_jpeg(const uint8_t *bytes, size_t size);

#endif
