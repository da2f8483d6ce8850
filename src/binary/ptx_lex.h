#ifndef FW_BINARY_PTX_LEX_H
#define FW_BINARY_PTX_LEX_H

#include "binary/span.h"

/* Words of PTX text; comments and blanks lie between them. */
enum fw_ptx_kind {
	FW_PTX_END,
	FW_PTX_NAME,      /* identifier or opcode: letters, digits, _ $ */
	FW_PTX_REGISTER,  /* begins with % */
	FW_PTX_DIRECTIVE, /* begins with a dot: .entry, .sync */
	FW_PTX_NUMBER,
	FW_PTX_STRING,
	FW_PTX_MARK /* any other single character */
};

struct fw_ptx_token {
	enum fw_ptx_kind kind;
	const char *text;
	size_t len;
};

/* What is left to read; ends at a NUL byte too. */
struct fw_ptx_lexer {
	const char *at, *end;
};

struct fw_ptx_token fw_ptx_next(struct fw_ptx_lexer *lexer);

/*
 * The next name inside a statement, or the mark that ends or interrupts it (; { }); registers,
 * directives, numbers and strings are passed over. Most of a text is read by this.
 */
struct fw_ptx_token fw_ptx_next_name(struct fw_ptx_lexer *lexer);

/*
 * From between two words: the first byte of a name, or a byte that ends a statement or the text, or
 * begins a string or a comment; end if there is none. By blocks where the processor can, and byte by byte.
 */
const char *fw_ptx_skip(const char *p, const char *end);
const char *fw_ptx_skip_scalar(const char *p, const char *end);

/* Steps over a single colon, as behind a label; false if something else comes. */
bool fw_ptx_skip_colon(struct fw_ptx_lexer *lexer);

static inline bool fw_ptx_is(const struct fw_ptx_token *token, const char *text)
{
	return strlen(text) == token->len && memcmp(token->text, text, token->len) == 0;
}

static inline bool fw_ptx_is_mark(const struct fw_ptx_token *token, char mark)
{
	return token->kind == FW_PTX_MARK && *token->text == mark;
}

/* Value of a decimal, hexadecimal (0x), octal (0) or binary (0b) integer; false if it is not one. */
bool fw_ptx_number(const struct fw_ptx_token *token, uint64_t *value);

#endif
