#ifndef FW_REPORT_PAGE_H
#define FW_REPORT_PAGE_H
/*
 * A page of text: columns, wrapping, bars, colours. Whatever is put on it is made harmless for a
 * terminal first: control characters and bytes that are not UTF-8 become U+FFFD, or ? in ASCII.
 */
#include "base/arena.h"
#include "base/str.h"
#include "fullwarp/report.h"

enum fw_ink { FW_INK_PLAIN, FW_INK_BOLD, FW_INK_DIM, FW_INK_BUSY, FW_INK_IDLE };

struct fw_page {
	struct fw_str *out;
	struct fw_arena arena; /* names made for this page */
	unsigned columns;
	bool color, ascii, full_names, all_findings;
};

/* Columns clamped to what the layout is made for; release with fw_page_release. */
void fw_page_init(struct fw_page *page, const struct fw_report_style *style, struct fw_str *out);
void fw_page_release(struct fw_page *page);

void fw_page_ink(struct fw_page *page, enum fw_ink ink);
void fw_page_put(struct fw_page *page, const char *text);
void fw_page_printf(struct fw_page *page, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A string that lives as long as the page; "" when memory is out, and the text fails as a whole. */
const char *fw_page_text(struct fw_page *page, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Ends a line, without the blanks at its end. */
void fw_page_end_line(struct fw_page *page);

/* text, or as much of it as fits width columns with an ellipsis; lives as long as the page. */
const char *fw_page_cut(struct fw_page *page, const char *text, unsigned width);

/* The same, but the end of text. */
const char *fw_page_cut_front(struct fw_page *page, const char *text, unsigned width);

/* An empty line, then a bold line. */
void fw_page_heading(struct fw_page *page, const char *text);

/*
 * text broken at blanks into lines of the page's width; every line but the first begins with indent
 * blanks, the first is taken to be at column `used` already. Ends with a newline.
 */
void fw_page_wrap(struct fw_page *page, unsigned used, unsigned indent, const char *text);

/* `label` padded to indent columns, then text wrapped behind it. */
void fw_page_item(struct fw_page *page, const char *label, unsigned indent, const char *text);

/* text in exactly width columns, cut with an ellipsis where it is longer; _right: aligned right. */
void fw_page_cell(struct fw_page *page, const char *text, unsigned width);
void fw_page_cell_right(struct fw_page *page, const char *text, unsigned width);

/* part of whole as a bar of at most width columns, in eighths of a column (ASCII: whole ones). */
void fw_page_bar(struct fw_page *page, int64_t part, int64_t whole, unsigned width);

/* Lines of code to paste, never broken, each behind indent blanks; the first behind label. */
void fw_page_code(struct fw_page *page, const char *label, unsigned indent, const char *code);

#endif
