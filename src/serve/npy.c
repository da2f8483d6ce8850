/* A .npy file: magic, version, the length of a Python dictionary as text, the elements. */
#include "serve/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"

/* A header is some 100 bytes; ours ends where the elements can be read at 64-byte alignment. */
#define MAX_HEADER   65536u
#define HEADER_BYTES 128

/* The text of the dictionary, not terminated. */
struct text {
	const char *at, *end;
};

static bool take(struct text *text, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(text->end - text->at) < len || memcmp(text->at, word, len))
		return false;
	text->at += len;
	return true;
}

static void skip_spaces(struct text *text)
{
	while (text->at < text->end && (*text->at == ' ' || *text->at == ','))
		text->at++;
}

/* What follows "'key': "; false: the key is not there. */
static bool find(struct text header, const char *key, struct text *value)
{
	char quoted[32];

	snprintf(quoted, sizeof(quoted), "'%s':", key);
	for (; header.at < header.end; header.at++)
		if (take(&header, quoted)) {
			skip_spaces(&header);
			*value = header;
			return true;
		}
	return false;
}

static bool take_number(struct text *text, int64_t *number)
{
	const char *first = text->at;

	for (*number = 0; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *text->at - '0', number))
			return false;
	return text->at > first;
}

/* "(64, 3, 224, 224)" */
static fw_status read_shape(struct fw_npy *npy, const char *path, struct text text,
			    struct fw_error *err)
{
	npy->count = 1;
	if (!take(&text, "("))
		return fw_fail(err, FW_ERR_FORMAT, "%s: the header's 'shape' is no tuple", path);
	for (skip_spaces(&text); !take(&text, ")"); skip_spaces(&text)) {
		int64_t size;

		if (npy->rank == FW_NPY_MAX_RANK)
			return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: more than %d dimensions", path,
				       FW_NPY_MAX_RANK);
		if (!take_number(&text, &size) ||
		    __builtin_mul_overflow(npy->count, (uint64_t)size, &npy->count))
			return fw_fail(err, FW_ERR_FORMAT,
				       "%s: dimension %u of 'shape' is not a size", path,
				       npy->rank);
		npy->dims[npy->rank++] = size;
	}
	return FW_OK;
}

static fw_status read_header(struct fw_npy *npy, const char *path, struct text header,
			     struct fw_error *err)
{
	struct text descr, order, shape;

	if (!find(header, "descr", &descr) || !find(header, "fortran_order", &order) ||
	    !find(header, "shape", &shape))
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: the header lacks descr, fortran_order or shape", path);
	if (!take(&descr, "'<f4'"))
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: the elements are not '<f4' (fp32); numpy: a.astype('float32')",
			       path);
	if (!take(&order, "False"))
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: Fortran order; numpy.ascontiguousarray gives C order", path);
	return read_shape(npy, path, shape, err);
}

static fw_status read_file(struct fw_npy *npy, const char *path, struct fw_error *err)
{
	const unsigned char *b = npy->file.data;
	size_t size = npy->file.size, start, length;
	fw_status status;

	if (size < 10 || memcmp(b, MAGIC, 6))
		return fw_fail(err, FW_ERR_FORMAT, "%s: not a .npy file", path);
	if (b[6] < 1 || b[6] > 3)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: version %u of .npy", path, b[6]);
	start = b[6] == 1 ? 10 : 12;
	if (size < start)
		return fw_fail(err, FW_ERR_FORMAT, "%s: ends in its header", path);
	length = (size_t)b[8] | (size_t)b[9] << 8;
	if (b[6] > 1)
		length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
	if (length > MAX_HEADER || length > size - start)
		return fw_fail(err, FW_ERR_FORMAT, "%s: a header of %zu bytes does not fit", path,
			       length);
	status = read_header(
		npy, path,
		(struct text){ (const char *)b + start, (const char *)b + start + length }, err);
	if (status)
		return status;
	if (npy->count > UINT64_MAX / 4 || npy->count * 4 != size - start - length)
		return fw_fail(err, FW_ERR_FORMAT, "%s: %" PRIu64 " elements and %zu bytes of them",
			       path, npy->count, size - start - length);
	npy->bytes = b + start + length;
	return FW_OK;
}

fw_status fw_npy_open(struct fw_npy *npy, const char *path, struct fw_error *err)
{
	fw_status status;

	*npy = (struct fw_npy){ .rank = 0 };
	status = fw_file_open(&npy->file, path, err);
	if (status)
		return status;
	status = read_file(npy, path, err);
	if (status)
		fw_npy_close(npy);
	return status;
}

void fw_npy_close(struct fw_npy *npy)
{
	fw_file_close(&npy->file);
	npy->bytes = NULL;
}

static bool put(FILE *file, uint32_t rank, const int64_t *dims, const float *data)
{
	unsigned char header[HEADER_BYTES];
	char dictionary[HEADER_BYTES - 10], shape[HEADER_BYTES] = "";
	size_t used = 0, count = 1;
	int length;

	for (uint32_t i = 0; i < rank && used < sizeof(shape); i++) {
		used += (size_t)snprintf(shape + used, sizeof(shape) - used, "%" PRId64 ", ",
					 dims[i]);
		count *= (size_t)dims[i];
	}
	length = snprintf(dictionary, sizeof(dictionary),
			  "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape);
	if (used >= sizeof(shape) || length < 0 || (size_t)length >= sizeof(dictionary))
		return false;
	memset(header, ' ', sizeof(header));
	memcpy(header, MAGIC "\x01\x00", 8);
	header[8] = HEADER_BYTES - 10;
	header[9] = 0;
	memcpy(header + 10, dictionary, (size_t)length);
	header[HEADER_BYTES - 1] = '\n';
	return fwrite(header, 1, sizeof(header), file) == sizeof(header) &&
	       fwrite(data, sizeof(*data), count, file) == count;
}

fw_status fw_npy_write(const char *path, uint32_t rank, const int64_t *dims, const float *data,
		       struct fw_error *err)
{
	FILE *file = fopen(path, "wb");
	bool is_whole;

	if (!file)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	is_whole = put(file, rank, dims, data);
	if (fclose(file) || !is_whole)
		return fw_fail(err, FW_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
	return FW_OK;
}
