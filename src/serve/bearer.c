#include "serve/bearer.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_BYTES 65536
#define LEAST     16 /* characters */

static fw_status split(struct fw_bearer *bearer, const char *path, struct fw_error *err)
{
	char *line = bearer->text;

	for (size_t i = 0; i <= bearer->bytes; i++) {
		char *end = bearer->text + i;

		if (i < bearer->bytes && *end != '\n' && *end != '\r')
			continue;
		*end = '\0';
		if (line < end && end - line < LEAST)
			return fw_fail(err, FW_ERR_FORMAT,
				       "%s: token %u has fewer than %d characters", path,
				       bearer->count + 1, LEAST);
		bearer->count += line < end;
		line = end + 1;
	}
	if (!bearer->count)
		return fw_fail(err, FW_ERR_FORMAT, "%s: there is no token in it", path);
	return FW_OK;
}

fw_status fw_bearer_read(struct fw_bearer *bearer, const char *path, struct fw_error *err)
{
	struct fw_file file;
	fw_status status = fw_file_open(&file, path, err);

	*bearer = (struct fw_bearer){ .text = NULL };
	if (status)
		return status;
	if (file.size > MAX_BYTES || (file.size && memchr(file.data, 0, file.size)))
		status = fw_fail(err, FW_ERR_FORMAT, "%s: not a text of up to %d bytes", path,
				 MAX_BYTES);
	if (!status && !(bearer->text = malloc(file.size + 1)))
		status = fw_fail_nomem(err, file.size + 1);
	if (!status) {
		bearer->bytes = file.size;
		if (file.size)
			memcpy(bearer->text, file.data, file.size);
		status = split(bearer, path, err);
	}
	fw_file_close(&file);
	if (status)
		fw_bearer_release(bearer);
	return status;
}

/* Looks at all of what was sent, whatever it finds. */
static bool is_same(const char *token, size_t len, const char *sent, size_t sent_len)
{
	volatile unsigned char difference = len != sent_len;

	for (size_t i = 0; i < sent_len; i++)
		difference = difference | (unsigned char)(token[i % (len + 1)] ^ sent[i]);
	return !difference;
}

bool fw_bearer_allows(const struct fw_bearer *bearer, const char *header)
{
	bool is_allowed = false;
	size_t at = 0;

	if (!bearer->count)
		return true;
	if (!header || strncasecmp(header, "Bearer ", 7))
		return false;
	header += 7;
	header += strspn(header, " ");
	while (at < bearer->bytes) {
		const char *token = bearer->text + at;
		size_t len = strlen(token);

		if (len)
			is_allowed |= is_same(token, len, header, strlen(header));
		at += len + 1;
	}
	return is_allowed;
}

void fw_bearer_release(struct fw_bearer *bearer)
{
	free(bearer->text);
	*bearer = (struct fw_bearer){ .text = NULL };
}
