/* The `// fullwarp:` lines of a source, split into items. */
#include "tune/spec_item.h"

#include "base/utf8.h"

#include <string.h>

#define MAX_LINE  65536
#define MAX_ITEMS 4096

static const char mark[] = "fullwarp:";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static fw_status fail_at(const struct fw_tune_reader *reader, const struct fw_tune_item *item,
			 size_t at, const char *what)
{
	return fw_fail(reader->err, FW_ERR_FORMAT, "%s:%u: column %zu: %s", reader->path,
		       item->line, item->column + at, what);
}

/* What is echoed to a terminal or handed to a compiler is text. */
static fw_status check_text(const struct fw_tune_reader *reader, const struct fw_tune_item *item)
{
	for (size_t i = 0, n; i < item->len; i += n) {
		n = item->text[i] == '\t' ? 1 : fw_utf8_printable(item->text + i, item->len - i);
		if (!n)
			return fail_at(reader, item, i,
				       "a control character, or a byte that is not UTF-8");
	}
	return FW_OK;
}

static fw_status add_item(struct fw_tune_reader *reader, struct fw_tune_item item)
{
	struct fw_tune_item *slot;

	while (item.len && is_blank(item.text[item.len - 1]))
		item.len--;
	while (item.len && is_blank(*item.text)) {
		item.text++;
		item.column++;
		item.len--;
	}
	if (!item.len)
		return FW_OK;
	if (reader->items.len == MAX_ITEMS)
		return fail_at(reader, &item, 0, "more than 4096 items");
	slot = fw_vec_push(&reader->items);
	if (!slot)
		return fw_fail_nomem(reader->err, sizeof(*slot));
	*slot = item;
	return FW_OK;
}

/* Items are separated by ';' outside quotes. */
static fw_status split_line(struct fw_tune_reader *reader, const struct fw_tune_item *line)
{
	bool is_quoted = false;
	size_t start = 0;
	fw_status status;

	if (line->len > MAX_LINE)
		return fail_at(reader, line, MAX_LINE, "the line is longer than 65536 bytes");
	status = check_text(reader, line);
	for (size_t i = 0; !status && i <= line->len; i++) {
		if (i < line->len && line->text[i] == '"')
			is_quoted = !is_quoted;
		if (i == line->len || (line->text[i] == ';' && !is_quoted)) {
			status = add_item(reader, (struct fw_tune_item){ line->text + start,
									 i - start, line->line,
									 line->column + start });
			start = i + 1;
		}
	}
	if (!status && is_quoted)
		return fail_at(reader, line, line->len, "a quotation mark is not closed");
	return status;
}

/* Bytes up to behind "fullwarp:"; 0: not such a line. */
static size_t length_of_mark(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && is_blank(line[i]))
		i++;
	if (len - i < 2 || line[i] != '/' || line[i + 1] != '/')
		return 0;
	for (i += 2; i < len && is_blank(line[i]);)
		i++;
	if (len - i < sizeof(mark) - 1 || memcmp(line + i, mark, sizeof(mark) - 1) != 0)
		return 0;
	return i + sizeof(mark) - 1;
}

/* A specification behind code would be easy to overlook, for us too. */
static bool has_mark_behind_code(const char *line, size_t len)
{
	const char *slashes = line;

	while ((slashes = memchr(slashes, '/', len - (size_t)(slashes - line)))) {
		size_t left = len - (size_t)(slashes - line);

		if (length_of_mark(slashes, left) && slashes > line)
			return true;
		slashes++;
	}
	return false;
}

fw_status fw_tune_items_find(struct fw_tune_reader *reader)
{
	const char *text = reader->spec->source, *end = text + reader->spec->source_bytes;
	struct fw_tune_item line = { .line = 1 };
	fw_status status = FW_OK;

	for (; !status && text < end; line.line++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((newline ? newline : end) - text), skip;
		const char *next = text + len + 1;

		if (len && text[len - 1] == '\r')
			len--;
		skip = length_of_mark(text, len);
		line.text = text + skip;
		line.len = len - skip;
		line.column = skip + 1;
		if (skip)
			status = split_line(reader, &line);
		else if (has_mark_behind_code(text, len))
			status = fail_at(reader, &line, 0,
					 "'// fullwarp:' must be the first of its line");
		text = next;
	}
	return status;
}
