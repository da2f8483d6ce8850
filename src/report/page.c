/* A page of text: columns, wrapping, bars, colours; harmless for a terminal whatever a trace holds. */
#include "report/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define DEFAULT_COLUMNS 100
#define LEAST_COLUMNS   40
#define MOST_COLUMNS    200
#define CODE_TAB        "    "

void fw_page_init(struct fw_page *page, const struct fw_report_style *style, struct fw_str *out)
{
	unsigned columns = style->columns ? style->columns : DEFAULT_COLUMNS;

	columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
	columns = columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
	*page = (struct fw_page){ .out = out,
				  .columns = columns,
				  .color = style->color,
				  .ascii = style->ascii,
				  .full_names = style->full_names,
				  .all_findings = style->all_findings };
}

void fw_page_release(struct fw_page *page)
{
	fw_arena_release(&page->arena);
}

void fw_page_ink(struct fw_page *page, enum fw_ink ink)
{
	static const char *const codes[] = { "\033[0m", "\033[1m", "\033[2m", "\033[32m",
					     "\033[33m" };

	if (page->color)
		fw_str_puts(page->out, codes[ink]);
}

static void put_clean(struct fw_page *page, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = fw_utf8_length(text + i, len - i);

		if (text[i] != '\n' && !fw_utf8_printable(text + i, len - i))
			fw_str_puts(page->out, page->ascii ? "?" : "\xef\xbf\xbd");
		else
			fw_str_append(page->out, text + i, n);
		i += n ? n : 1;
	}
}

void fw_page_put(struct fw_page *page, const char *text)
{
	put_clean(page, text, strlen(text));
}

static const char *format(struct fw_page *page, const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = len < 0 ? NULL : fw_arena_alloc(&page->arena, (size_t)len + 1);
	if (!text) {
		page->out->failed = true;
		return "";
	}
	vsnprintf(text, (size_t)len + 1, fmt, args);
	return text;
}

void fw_page_printf(struct fw_page *page, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fw_page_put(page, format(page, fmt, args));
	va_end(args);
}

const char *fw_page_text(struct fw_page *page, const char *fmt, ...)
{
	const char *text;
	va_list args;

	va_start(args, fmt);
	text = format(page, fmt, args);
	va_end(args);
	return text;
}

void fw_page_end_line(struct fw_page *page)
{
	struct fw_str *out = page->out;

	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	fw_str_putc(out, '\n');
}

void fw_page_heading(struct fw_page *page, const char *text)
{
	fw_str_putc(page->out, '\n');
	fw_page_ink(page, FW_INK_BOLD);
	fw_page_put(page, text);
	fw_page_ink(page, FW_INK_PLAIN);
	fw_str_putc(page->out, '\n');
}

static void new_line(struct fw_page *page, unsigned indent)
{
	fw_str_putc(page->out, '\n');
	fw_str_repeat(page->out, " ", indent);
}

/* A word longer than a line is cut where the line ends. Returns the column after it. */
static size_t put_word(struct fw_page *page, const char *word, size_t len, size_t column,
		       unsigned indent)
{
	while (column + fw_utf8_width(word, len) > page->columns) {
		size_t room = column < page->columns ? page->columns - column : 0;
		size_t cut = fw_utf8_cut(word, len, room);

		if (!cut && column <= indent)
			break;
		put_clean(page, word, cut);
		word += cut;
		len -= cut;
		new_line(page, indent);
		column = indent;
	}
	put_clean(page, word, len);
	return column + fw_utf8_width(word, len);
}

void fw_page_wrap(struct fw_page *page, unsigned used, unsigned indent, const char *text)
{
	size_t column = used;
	bool is_first = true;

	while (*text) {
		size_t len = strcspn(text, " \n"), width = fw_utf8_width(text, len);

		if (!is_first && column + 1 + width > page->columns) {
			new_line(page, indent);
			column = indent;
		} else if (!is_first) {
			fw_str_putc(page->out, ' ');
			column++;
		}
		column = put_word(page, text, len, column, indent);
		is_first = false;
		text += len;
		text += strspn(text, " \n");
	}
	fw_str_putc(page->out, '\n');
}

void fw_page_item(struct fw_page *page, const char *label, unsigned indent, const char *text)
{
	unsigned used = (unsigned)fw_utf8_width(label, strlen(label));

	fw_page_ink(page, FW_INK_DIM);
	fw_page_put(page, label);
	fw_page_ink(page, FW_INK_PLAIN);
	fw_str_repeat(page->out, " ", used < indent ? indent - used : 1);
	fw_page_wrap(page, used < indent ? indent : used + 1, indent, text);
}

static const char *ellipsis(const struct fw_page *page)
{
	return page->ascii ? "..." : "\xe2\x80\xa6";
}

const char *fw_page_cut(struct fw_page *page, const char *text, unsigned width)
{
	size_t len = strlen(text), mark = page->ascii ? 3 : 1;

	if (fw_utf8_width(text, len) <= width)
		return text;
	if (width < mark)
		return "";
	return fw_page_text(page, "%.*s%s", (int)fw_utf8_cut(text, len, width - mark), text,
			    ellipsis(page));
}

const char *fw_page_cut_front(struct fw_page *page, const char *text, unsigned width)
{
	size_t len = strlen(text), mark = page->ascii ? 3 : 1;

	if (fw_utf8_width(text, len) <= width)
		return text;
	if (width < mark)
		return "";
	while (fw_utf8_width(text, len) > width - mark) {
		size_t n = fw_utf8_length(text, len);

		text += n ? n : 1;
		len -= n ? n : 1;
	}
	return fw_page_text(page, "%s%s", ellipsis(page), text);
}

void fw_page_cell(struct fw_page *page, const char *text, unsigned width)
{
	const char *cut = fw_page_cut(page, text, width);

	fw_page_put(page, cut);
	fw_str_repeat(page->out, " ", width - fw_utf8_width(cut, strlen(cut)));
}

void fw_page_cell_right(struct fw_page *page, const char *text, unsigned width)
{
	const char *cut = fw_page_cut(page, text, width);

	fw_str_repeat(page->out, " ", width - fw_utf8_width(cut, strlen(cut)));
	fw_page_put(page, cut);
}

void fw_page_bar(struct fw_page *page, int64_t part, int64_t whole, unsigned width)
{
	static const char *const eighths[] = { "",
					       "\xe2\x96\x8f",
					       "\xe2\x96\x8e",
					       "\xe2\x96\x8d",
					       "\xe2\x96\x8c",
					       "\xe2\x96\x8b",
					       "\xe2\x96\x8a",
					       "\xe2\x96\x89" };
	double share = whole > 0 && part > 0 ? (double)part / (double)whole : 0;
	unsigned steps = (unsigned)(share * width * 8 + 0.5);

	if (page->ascii) {
		fw_str_repeat(page->out, "#", (steps + 4) / 8);
		return;
	}
	fw_str_repeat(page->out, "\xe2\x96\x88", steps / 8);
	fw_str_puts(page->out, eighths[steps % 8]);
}

void fw_page_code(struct fw_page *page, const char *label, unsigned indent, const char *code)
{
	unsigned used = (unsigned)fw_utf8_width(label, strlen(label));

	fw_page_ink(page, FW_INK_DIM);
	fw_page_put(page, label);
	fw_page_ink(page, FW_INK_PLAIN);
	while (*code) {
		size_t tabs = strspn(code, "\t"), len = strcspn(code + tabs, "\n");

		fw_str_repeat(page->out, " ", used < indent ? indent - used : 1);
		fw_str_repeat(page->out, CODE_TAB, tabs);
		put_clean(page, code + tabs, len);
		fw_str_putc(page->out, '\n');
		code += tabs + len;
		code += *code == '\n';
		used = 0;
	}
}
