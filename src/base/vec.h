#ifndef FW_BASE_VEC_H
#define FW_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A growing array of elements of one size. One thread. Initialise with FW_VEC(type); the typed view
 * is `type *items = vec.data`. Growth doubles, so pointers into it die on the next push.
 */
struct fw_vec {
	void *data;
	size_t len, cap, size;
};

#define FW_VEC(type)                                                                               \
	{                                                                                          \
		.size = sizeof(type)                                                               \
	}

/* Space for one more element, zeroed, already counted; NULL when memory is out. */
void *fw_vec_push(struct fw_vec *vec);

/* Room for at least count elements in all; false when memory is out. */
bool fw_vec_reserve(struct fw_vec *vec, size_t count);

/* Frees the elements; the vector is empty and usable again. */
void fw_vec_release(struct fw_vec *vec);

#endif
