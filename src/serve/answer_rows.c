/* Answers to rows, and rows back to the images that they are about. */
#include "serve/answer_rows.h"

#include "base/error.h"
#include "base/json_writer.h"

#include <string.h>

#define JSON_START "{\"image\":\""

static void put_csv(struct fw_str *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fw_str_puts(out, text);
		return;
	}
	fw_str_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			fw_str_putc(out, '"');
		fw_str_putc(out, *text);
	}
	fw_str_putc(out, '"');
}

void fw_row_header(const struct fw_row_format *format, struct fw_str *out)
{
	if (format->is_json)
		return;
	fw_str_puts(out, "image,error");
	for (uint32_t i = 1; i <= format->top; i++) {
		fw_str_printf(out, ",class_%u", i);
		if (format->labels)
			fw_str_printf(out, ",label_%u", i);
		fw_str_printf(out, ",probability_%u", i);
	}
	fw_str_putc(out, '\n');
}

static void write_csv(const struct fw_row_format *format, const struct fw_row *row,
		      struct fw_str *out)
{
	put_csv(out, row->image);
	fw_str_putc(out, ',');
	if (row->error)
		put_csv(out, row->error);
	for (uint32_t i = 0; i < format->top; i++) {
		bool has_class = !row->error && i < row->count;

		fw_str_putc(out, ',');
		if (has_class)
			fw_str_printf(out, "%u", row->ids[i]);
		if (format->labels) {
			fw_str_putc(out, ',');
			if (has_class)
				put_csv(out, format->labels->names[row->ids[i]]);
		}
		fw_str_putc(out, ',');
		if (has_class)
			fw_str_printf(out, "%.6g", (double)row->probabilities[i]);
	}
	fw_str_putc(out, '\n');
}

static void write_json(const struct fw_row_format *format, const struct fw_row *row,
		       struct fw_str *out)
{
	struct fw_json json = { .out = out };

	fw_json_begin_object(&json, NULL);
	fw_json_string(&json, "image", row->image);
	if (row->error) {
		fw_json_string(&json, "error", row->error);
	} else {
		fw_json_begin_array(&json, "classes");
		for (uint32_t i = 0; i < row->count; i++) {
			fw_json_begin_object(&json, NULL);
			fw_json_uint(&json, "id", row->ids[i]);
			if (format->labels)
				fw_json_string(&json, "label", format->labels->names[row->ids[i]]);
			fw_json_double(&json, "probability", (double)row->probabilities[i]);
			fw_json_end_object(&json);
		}
		fw_json_end_array(&json);
	}
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}

void fw_row_write(const struct fw_row_format *format, const struct fw_row *row, struct fw_str *out)
{
	if (format->is_json)
		write_json(format, row, out);
	else
		write_csv(format, row, out);
}

/* Bytes of the first row with its line feed; 0: it has none. Line feeds in quotes belong to a CSV field. */
static size_t row_bytes(const struct fw_row_format *format, const char *text, size_t len)
{
	bool is_quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' && !format->is_json)
			is_quoted = !is_quoted;
		if (text[i] == '\n' && !is_quoted)
			return i + 1;
	}
	return 0;
}

/* Bytes of the row's start that tell its image, as it was written; 0: not such a row. */
static size_t key_bytes(const struct fw_row_format *format, const char *row, size_t len)
{
	size_t start = strlen(JSON_START);
	bool is_quoted = false;

	if (!format->is_json) {
		for (size_t i = 0; i < len; i++) {
			if (row[i] == '"')
				is_quoted = !is_quoted;
			if (row[i] == ',' && !is_quoted)
				return i;
		}
		return 0;
	}
	if (len < start || memcmp(row, JSON_START, start))
		return 0;
	for (size_t i = start; i < len; i++) {
		if (row[i] == '"')
			return i;
		if (row[i] == '\\')
			i++;
	}
	return 0;
}

static fw_status check_header(const struct fw_row_format *format, const char *text, size_t len,
			      struct fw_rows_done *done, struct fw_error *err)
{
	struct fw_str header = { 0 };
	size_t common;
	bool is_ours;

	if (format->is_json)
		fw_str_puts(&header, JSON_START);
	else
		fw_row_header(format, &header);
	common = len < header.len ? len : header.len;
	is_ours = !header.failed && !memcmp(text, fw_str_text(&header), common);
	if (is_ours && !format->is_json && len >= header.len)
		done->bytes = header.len;
	fw_str_release(&header);
	if (!is_ours)
		return fw_fail(err, FW_ERR_FORMAT,
			       "it does not begin as the output of this command with these options "
			       "does: give the same ones, or another file");
	return FW_OK;
}

fw_status fw_rows_read(const struct fw_row_format *format, const char *text, size_t len,
		       struct fw_rows_done *done, struct fw_error *err)
{
	fw_status status = len ? check_header(format, text, len, done, err) : FW_OK;
	size_t n;

	if (status || (!format->is_json && !done->bytes))
		return status;
	while ((n = row_bytes(format, text + done->bytes, len - done->bytes))) {
		const char *row = text + done->bytes;
		size_t key = key_bytes(format, row, n);
		uint64_t *count =
			key ? fw_map_at(&done->map, fw_hash_bytes(row, key), key, NULL) : NULL;

		if (!key)
			return fw_fail(err, FW_ERR_FORMAT,
				       "byte %zu: not a row of this command's output", done->bytes);
		if (!count)
			return fw_fail_nomem(err, len);
		++*count;
		done->rows++;
		done->bytes += n;
	}
	return FW_OK;
}

bool fw_rows_take(const struct fw_row_format *format, struct fw_rows_done *done, const char *image,
		  struct fw_str *scratch)
{
	const struct fw_row row = { .image = image, .error = "" };
	uint64_t *count;
	size_t key;

	fw_str_clear(scratch);
	fw_row_write(format, &row, scratch);
	key = scratch->failed ? 0 : key_bytes(format, scratch->data, scratch->len);
	count = key ? fw_map_find(&done->map, fw_hash_bytes(scratch->data, key), key) : NULL;
	if (!count || !*count)
		return false;
	--*count;
	return true;
}

void fw_rows_done_release(struct fw_rows_done *done)
{
	fw_map_release(&done->map);
}
