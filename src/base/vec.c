#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool fw_vec_reserve(struct fw_vec *vec, size_t count)
{
	size_t cap = vec->cap ? vec->cap : 16;
	void *data;

	if (count <= vec->cap)
		return true;
	while (cap < count) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	if (cap > SIZE_MAX / vec->size)
		return false;
	data = realloc(vec->data, cap * vec->size);
	if (!data)
		return false;
	vec->data = data;
	vec->cap = cap;
	return true;
}

void *fw_vec_push(struct fw_vec *vec)
{
	unsigned char *p;

	if (!fw_vec_reserve(vec, vec->len + 1))
		return NULL;
	p = (unsigned char *)vec->data + vec->len * vec->size;
	vec->len++;
	return memset(p, 0, vec->size);
}

void fw_vec_release(struct fw_vec *vec)
{
	free(vec->data);
	vec->data = NULL;
	vec->len = vec->cap = 0;
}
