#ifndef FW_TUNE_EXPR_H
#define FW_TUNE_EXPR_H
/*
 * Integer expressions of a specification, in C's syntax: + - * / % < <= > >= == != && || ! ?: ( ), ceil(a / b),
 * min(a, b), max(a, b), names of parameters and sets. Compiled once to a short program, evaluated without allocation,
 * 64-bit with overflow and division by zero found.
 */
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct fw_tune_code;

struct fw_tune_expr {
	const char *text; /* as written; NULL: none */
	const struct fw_tune_code *code;
	uint32_t n_code;
};

/* Index of a name among the variables; false: unknown. */
typedef bool fw_tune_lookup(const void *names, const char *name, size_t len, uint32_t *index);

/* An expression as it stands in its line. */
struct fw_tune_expr_source {
	const char *text; /* need not end in NUL */
	size_t len;
	size_t column; /* of text[0], from 1; for messages */
	fw_tune_lookup *lookup;
	const void *names; /* handed to lookup */
};

/* FW_ERR_FORMAT: "column N: ...". Depth and length are bounded. */
fw_status fw_tune_expr_parse(struct fw_arena *arena, const struct fw_tune_expr_source *source,
			     struct fw_tune_expr *expr, struct fw_error *err);

/* False: overflow or division by zero. */
bool fw_tune_expr_eval(const struct fw_tune_expr *expr, const int64_t *variables, int64_t *value);

/*
 * One more than the highest index below limit of the variables that it reads; 0: reads none of those. So an
 * expression may be evaluated as soon as that many are known.
 */
uint32_t fw_tune_expr_bound(const struct fw_tune_expr *expr, uint32_t limit);

#endif
