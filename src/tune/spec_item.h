#ifndef FW_TUNE_SPEC_ITEM_H
#define FW_TUNE_SPEC_ITEM_H
/* Items of a specification ("param BX = 16 32"), and reading one from left to right. Private to the parser. */
#include "tune/spec.h"

#include "base/vec.h"
#include "tune/source_code.h"

#define FW_TUNE_MAX_NAME 63

struct fw_tune_item {
	const char *text; /* trimmed; printable UTF-8 and tabs; not NUL-terminated */
	size_t len;
	uint32_t line;
	size_t column; /* of text[0], from 1 */
};

/* A specification while it is read. */
struct fw_tune_reader {
	const char *path;
	struct fw_tune_spec *spec;
	const char *code; /* the source without comments */
	struct fw_vec items;
	struct fw_vec wheres; /* struct fw_tune_expr */
	struct fw_error *err;
};

/* All items of the comment lines, in order. */
fw_status fw_tune_items_find(struct fw_tune_reader *reader);

/* Where one item is read. */
struct fw_tune_cursor {
	struct fw_tune_reader *reader;
	const struct fw_tune_item *item;
	size_t at;
};

/* "path:line: column N: ..." at the cursor. */
fw_status fw_tune_cursor_fail(const struct fw_tune_cursor *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Puts the place of the item before what err holds. */
fw_status fw_tune_cursor_place(const struct fw_tune_cursor *c, fw_status status);

/* The next character that is no blank; 0 at the end. */
char fw_tune_cursor_peek(struct fw_tune_cursor *c);
bool fw_tune_cursor_accept(struct fw_tune_cursor *c, const char *token);
/* A word of letters, digits and _ that is exactly this. */
bool fw_tune_cursor_accept_word(struct fw_tune_cursor *c, const char *word);
/* The next such word; len 0: none. */
const char *fw_tune_cursor_word(struct fw_tune_cursor *c, size_t *len);
fw_status fw_tune_cursor_expect(struct fw_tune_cursor *c, const char *token);
fw_status fw_tune_cursor_expect_end(struct fw_tune_cursor *c);
/* A C identifier of up to FW_TUNE_MAX_NAME characters; copied to the spec's arena. */
fw_status fw_tune_cursor_identifier(struct fw_tune_cursor *c, const char **name);
/* One that a parameter or set may have. */
fw_status fw_tune_cursor_name(struct fw_tune_cursor *c, const char **name);
fw_status fw_tune_cursor_integer(struct fw_tune_cursor *c, int64_t *value);
fw_status fw_tune_cursor_real(struct fw_tune_cursor *c, double *value);
/* "text"; copied to the spec's arena. */
fw_status fw_tune_cursor_quoted(struct fw_tune_cursor *c, const char **text);

/* An expression of len bytes at the cursor, which moves behind it. Names: parameters, sets. */
fw_status fw_tune_cursor_expr(struct fw_tune_cursor *c, size_t len, struct fw_tune_expr *expr);
/* The same of the first n_sets sets only, numbered from 0. */
fw_status fw_tune_cursor_set_expr(struct fw_tune_cursor *c, size_t len, uint32_t n_sets,
				  struct fw_tune_expr *expr);
/* One to three expressions, separated by commas, up to len; the others are NULL texts. */
fw_status fw_tune_cursor_exprs(struct fw_tune_cursor *c, size_t len, struct fw_tune_expr exprs[3]);
/* Fails where expr reads a parameter: it must be the same for every configuration. */
fw_status fw_tune_cursor_only_sets(const struct fw_tune_cursor *c, const struct fw_tune_expr *expr);

/* Bytes from the cursor to the end of the item. */
size_t fw_tune_cursor_left(const struct fw_tune_cursor *c);

/* One kind of item each; the cursor stands behind the keyword. */
fw_status fw_tune_read_param(struct fw_tune_cursor *c);
fw_status fw_tune_read_set(struct fw_tune_cursor *c);
fw_status fw_tune_read_check(struct fw_tune_cursor *c);
fw_status fw_tune_read_arg(struct fw_tune_cursor *c);
fw_status fw_tune_read_flags(struct fw_tune_cursor *c);

/* Type, tolerances and random values that an argument of this type has unless told otherwise. */
void fw_tune_arg_defaults(struct fw_tune_arg *arg, enum fw_tune_type type);

/* Splits compiler flags at blanks (quotes hold together) and adds them to list. */
fw_status fw_tune_split_flags(struct fw_arena *arena, const char *text, size_t len,
			      struct fw_vec *list, struct fw_error *err);

/* Constraints of where items and of the block's size into the space. */
fw_status fw_tune_constrain(struct fw_tune_spec *spec, const struct fw_vec *wheres,
			    struct fw_error *err);

/* Path and text into the spec; refuses NUL bytes and more than 16 MB. */
fw_status fw_tune_spec_take_source(const char *path, const char *text, size_t bytes,
				   struct fw_tune_spec *spec, struct fw_error *err);

/* Everything but the sealing of the space, for the fuzz target. */
fw_status fw_tune_spec_parse_unsealed(const char *path, const char *text, size_t bytes,
				      struct fw_tune_spec *spec, struct fw_error *err);

#endif
