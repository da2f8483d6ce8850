#ifndef FW_SERVE_IMAGE_NAMES_H
#define FW_SERVE_IMAGE_NAMES_H
/* Operands of a command to names of image files: files as they are, folders by what lies in them, lists by line. */
#include "base/error.h"
#include "base/vec.h"

/* Initialise with {.names = FW_VEC(char *)}. Names are bytes as the system gives them, without NUL. */
struct fw_image_names {
	struct fw_vec names;  /* char *, owned */
	size_t other;         /* files in folders that are not called .jpg, .jpeg or .png */
	size_t empty_folders; /* operands without an image in them */
};

/*
 * A folder's images by their names' ends, folders in it included, in the order of the names' bytes; links to folders are
 * not followed. Anything else is taken as a file, whatever it is called, even if there is none.
 */
fw_status fw_image_names_add(struct fw_image_names *names, const char *operand,
			     struct fw_error *err);

/* One name a line; "-": of standard input. Empty lines do not count. */
fw_status fw_image_names_add_list(struct fw_image_names *names, const char *path,
				  struct fw_error *err);

void fw_image_names_release(struct fw_image_names *names);

#endif
