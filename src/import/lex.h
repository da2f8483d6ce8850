#ifndef FW_IMPORT_LEX_H
#define FW_IMPORT_LEX_H
/*
 * A cursor over JSON text that lies in memory in one piece. Records are read from their beginning
 * again when the text ends inside them and there is more to come, so nothing here keeps state between
 * two pieces. The text must be followed by FW_LEX_PADDING readable bytes of 0.
 */
#include "import/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_LEX_PADDING 64

/* Containers deeper than this are refused; what profilers write has 5 levels. */
#define FW_LEX_DEPTH 512

enum fw_lex_state {
	FW_LEX_OK,
	FW_LEX_MORE, /* the text ends inside the value */
	FW_LEX_BAD   /* not JSON; `p` is where */
};

struct fw_lex {
	const char *p, *end;
	enum fw_lex_state state; /* once not FW_LEX_OK, every call is a no-op */
	bool is_lenient;         /* a quote ends a string only where JSON goes on behind it */
	bool is_final;           /* the text ends with the file: what is cut stays cut */
	bool is_careful;         /* no short cuts: they cost double where they do not succeed */
	size_t wasted;           /* bytes looked at by short cuts that did not succeed */
	char word[48];           /* the last key or word that had escapes, without them */
};

/* A string without its quotes, or the bytes of a number, true, null, NaN, ...; points into the text. */
struct fw_lex_text {
	const char *p;
	size_t len;
	uint8_t flags;
};

enum {
	FW_TEXT_QUOTED = 1,
	FW_TEXT_ESCAPED = 2,  /* has backslashes */
	FW_TEXT_CONTROL = 4,  /* has raw control characters */
	FW_TEXT_HIGH = 8,     /* has bytes over 0x7f */
	FW_TEXT_REPAIRED = 16 /* has unescaped quotes */
};

/* Stops reading at a place where the text is not JSON, or where it ends. */
void fw_lex_fail(struct fw_lex *lex, const char *at);

static inline bool fw_lex_ok(const struct fw_lex *lex)
{
	return lex->state == FW_LEX_OK;
}

static inline bool fw_lex_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline const char *fw_lex_skip_space(const char *p)
{
	/* Most values follow at once or after one blank. */
	if (!fw_lex_is_space(*p))
		return p;
	if (!fw_lex_is_space(p[1]))
		return p + 1;
	return fw_scan_space(p + 2);
}

/* Steps over white space; the next byte, or 0 with the state set at the end of the text. */
static inline char fw_lex_peek(struct fw_lex *lex)
{
	if (!fw_lex_ok(lex))
		return 0;
	lex->p = fw_lex_skip_space(lex->p);
	if (!*lex->p && lex->p >= lex->end)
		fw_lex_fail(lex, lex->p);
	return *lex->p;
}

/* Steps over white space and the byte c; false, with the state set, if something else is there. */
bool fw_lex_expect(struct fw_lex *lex, char c);

/*
 * Takes the escapes out of a word that the reader knows, such as a key: some tools write them where
 * none is needed. The text then lies in the cursor, until the next. Longer ones, and what is not ASCII,
 * are no such words and stay.
 */
void fw_lex_unescape(struct fw_lex *lex, struct fw_lex_text *text);

/* A key with its colon; false at the end of the object, whose brace is stepped over, or on failure. */
bool fw_lex_key(struct fw_lex *lex, bool is_first, struct fw_lex_text *key);

/* The next element of an array is there; false at its end, or on failure. */
bool fw_lex_element(struct fw_lex *lex, bool is_first);

/* A string or a scalar; containers are skipped and give an empty text without FW_TEXT_QUOTED. */
void fw_lex_value(struct fw_lex *lex, struct fw_lex_text *value);

void fw_lex_skip(struct fw_lex *lex);

/*
 * Behind a value of an object: steps behind the object's brace without looking closely at the rest.
 * False, and nothing is done, where that cannot be done safely.
 */
bool fw_lex_leave_object(struct fw_lex *lex);

#endif
