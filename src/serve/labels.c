/* A labels file to names. */
#include "serve/labels.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (64u << 20)

static uint32_t count_lines(const char *text, size_t len)
{
	uint32_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] == '\n' || i + 1 == len;
	return count;
}

static void split(struct fw_labels *labels, size_t len)
{
	char *line = labels->text;

	for (uint32_t i = 0; i < labels->count; i++) {
		char *end = memchr(line, '\n', len - (size_t)(line - labels->text));

		if (!end)
			end = labels->text + len;
		labels->names[i] = line;
		line = end + 1;
		*end = '\0';
		if (end > labels->names[i] && end[-1] == '\r')
			end[-1] = '\0';
	}
}

fw_status fw_labels_read(struct fw_labels *labels, const char *path, struct fw_error *err)
{
	struct fw_file file;
	fw_status status = fw_file_open(&file, path, err);

	*labels = (struct fw_labels){ .text = NULL };
	if (status)
		return status;
	if (!file.size || file.size > MAX_BYTES || memchr(file.data, 0, file.size))
		status = fw_fail(err, FW_ERR_FORMAT,
				 "%s: not a text of 1 to %u bytes with a label on each line", path,
				 MAX_BYTES);
	if (!status) {
		labels->count = count_lines((const char *)file.data, file.size);
		labels->text = malloc(file.size + 1);
		labels->names = malloc(labels->count * sizeof(*labels->names));
		if (!labels->text || !labels->names)
			status = fw_fail_nomem(err, file.size);
	}
	if (!status) {
		memcpy(labels->text, file.data, file.size);
		labels->text[file.size] = '\0';
		split(labels, file.size);
	}
	fw_file_close(&file);
	if (status)
		fw_labels_release(labels);
	return status;
}

void fw_labels_release(struct fw_labels *labels)
{
	free(labels->text);
	free(labels->names);
	*labels = (struct fw_labels){ .text = NULL };
}
