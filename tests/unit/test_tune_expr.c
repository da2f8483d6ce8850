/* Expressions of a tuning specification: values by hand, in C's and mathematics' terms. */
#include "tune/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* a, b, c... are variables 0, 1, 2... */
static bool lookup(const void *names, const char *name, size_t len, uint32_t *index)
{
	const char *letters = names;
	const char *at = len == 1 ? strchr(letters, *name) : NULL;

	if (at)
		*index = (uint32_t)(at - letters);
	return at;
}

static fw_status parse(struct fw_arena *arena, const char *text, struct fw_tune_expr *expr,
		       struct fw_error *err)
{
	struct fw_tune_expr_source source = { text, strlen(text), 1, lookup, "abcdef" };

	return fw_tune_expr_parse(arena, &source, expr, err);
}

static const int64_t variables[] = { 7, 2, -7, 0, INT64_MAX, INT64_MIN };

static void gives(const char *text, int64_t want)
{
	struct fw_arena arena = { 0 };
	struct fw_tune_expr expr;
	struct fw_error err = { 0 };
	int64_t value = 12345;

	assert_int_equal(parse(&arena, text, &expr, &err), FW_OK);
	assert_true(fw_tune_expr_eval(&expr, variables, &value));
	if (value != want)
		print_error("%s\n", text);
	assert_int_equal(value, want);
	assert_string_equal(expr.text, text);
	fw_arena_release(&arena);
}

static void has_no_value(const char *text)
{
	struct fw_arena arena = { 0 };
	struct fw_tune_expr expr;
	struct fw_error err = { 0 };
	int64_t value;

	assert_int_equal(parse(&arena, text, &expr, &err), FW_OK);
	assert_false(fw_tune_expr_eval(&expr, variables, &value));
	fw_arena_release(&arena);
}

static void is_refused(const char *text, const char *message)
{
	struct fw_arena arena = { 0 };
	struct fw_tune_expr expr;
	struct fw_error err = { 0 };

	assert_int_equal(parse(&arena, text, &expr, &err), FW_ERR_FORMAT);
	assert_string_equal(err.message, message);
	fw_arena_release(&arena);
}

static void computes_like_c(void **state)
{
	(void)state;
	gives("1 + 2 * 3", 7);
	gives("(1 + 2) * 3", 9);
	gives("10 - 3 - 2", 5);
	gives("a / b", 3);
	gives("c / b", -3); /* towards zero, as C divides */
	gives("c % b", -1);
	gives("-a + 1", -6);
	gives("- -a", 7);
	gives("!a", 0);
	gives("!0 + +1", 2);
	gives("0x10 + 1", 17);
	gives("a > b", 1);
	gives("a <= b", 0);
	gives("1 + 1 == 2", 1);
	gives("1 < 2 == 1", 1); /* == binds looser than < */
	gives("a != 7 || b == 2 && c == 0", 0);
	gives("(a == 7 || b == 2) && c == 0", 0);
	gives("a == 7 || b == 2 && c == 0", 1);
	gives("5 || 0", 1);
	gives("0 && 1", 0);
	gives("3 && 2", 1);
	gives("a ? b : c", 2);
	gives("d ? b : a ? 10 : 20", 10);
	gives("d ? b : d ? 10 : 20", 20);
	gives("min(a, b) + max(a, b) * 10", 72);
	gives("e", INT64_MAX);
	gives(" a\t*b ", 14);
}

static void rounds_up_with_ceil(void **state)
{
	(void)state;
	gives("ceil(a / b)", 4);
	gives("ceil(8 / b)", 4);
	gives("ceil(c / b)", -3); /* -3.5 */
	gives("ceil(c / -2)", 4); /* 3.5 */
	gives("ceil((a + 1) / (b * 4))", 1);
	gives("ceil(a / b) * 2", 8);
	is_refused("ceil(a)", "column 1: ceil takes one division: ceil(a / b), ceil(a / (b * c))");
	is_refused("ceil(a / b / c)",
		   "column 1: ceil takes one division: ceil(a / b), ceil(a / (b * c))");
	is_refused("ceil(a ? b : a / b)",
		   "column 1: ceil takes one division: ceil(a / b), ceil(a / (b * c))");
	is_refused("ceil(a / b * c)",
		   "column 1: ceil takes one division: ceil(a / b), ceil(a / (b * c))");
}

static void finds_overflow_and_division_by_zero(void **state)
{
	(void)state;
	has_no_value("a / d");
	has_no_value("a % d");
	has_no_value("ceil(a / d)");
	has_no_value("e + 1");
	has_no_value("f - 1");
	has_no_value("e * 2");
	has_no_value("-f");
	has_no_value("f / -1");
	has_no_value("f % -1");
	/* What is not evaluated has no faults. */
	gives("d && a / d", 0);
	gives("a || a / d", 1);
	gives("d ? a / d : 4", 4);
	gives("a ? 4 : a / d", 4);
}

static void names_the_column_of_a_fault(void **state)
{
	(void)state;
	is_refused("", "column 1: a number, a name or '(' is missing");
	is_refused("a +", "column 4: a number, a name or '(' is missing");
	is_refused("a b", "column 3: an operator is missing, or the expression ends here");
	is_refused("a = b", "column 3: an operator is missing, or the expression ends here");
	is_refused("(a", "column 3: ')' is missing");
	is_refused("a + BX", "column 5: unknown name 'BX'");
	is_refused("sqrt(a)", "column 1: not a function: there are ceil, min and max");
	is_refused("min(a)", "column 6: min and max take two values");
	is_refused("a ? b", "column 6: ':' is missing");
	is_refused("9223372036854775808", "column 1: the number does not fit into 64 bits");
	is_refused("1.5", "column 1: not a whole number");
	is_refused("12K", "column 1: not a whole number");
	is_refused("0x", "column 1: not a whole number");
}

static void bounds_depth_and_length(void **state)
{
	static char text[100001];
	struct fw_arena arena = { 0 };
	struct fw_tune_expr_source source = { text, sizeof(text) - 1, 1, NULL, NULL };
	struct fw_tune_expr expr;
	struct fw_error err = { 0 };
	const char *fillers[] = { "(", "-", "!", "1+(", "1?1:", "1&&(", "1 ", "min(1," };

	(void)state;
	for (size_t f = 0; f < sizeof(fillers) / sizeof(*fillers); f++) {
		for (size_t len = 100; len <= 100000; len *= 10) {
			for (size_t i = 0; i < len; i++)
				text[i] = fillers[f][i % strlen(fillers[f])];
			source.len = len;
			assert_int_equal(fw_tune_expr_parse(&arena, &source, &expr, &err),
					 FW_ERR_FORMAT);
		}
	}
	/* 64 brackets at most */
	memset(text, '(', 63);
	text[63] = '1';
	memset(text + 64, ')', 63);
	source.len = 127;
	assert_int_equal(fw_tune_expr_parse(&arena, &source, &expr, &err), FW_OK);
	fw_arena_release(&arena);
}

static void tells_what_it_reads(void **state)
{
	struct fw_arena arena = { 0 };
	struct fw_tune_expr expr;

	(void)state;
	assert_int_equal(parse(&arena, "1 + 2", &expr, NULL), FW_OK);
	assert_int_equal(fw_tune_expr_bound(&expr, 6), 0);
	assert_int_equal(parse(&arena, "a * e + 5", &expr, NULL), FW_OK);
	assert_int_equal(fw_tune_expr_bound(&expr, 6), 5);
	assert_int_equal(fw_tune_expr_bound(&expr, 4), 1);
	assert_int_equal(fw_tune_expr_bound(&expr, 0), 0);
	fw_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computes_like_c),
		cmocka_unit_test(rounds_up_with_ceil),
		cmocka_unit_test(finds_overflow_and_division_by_zero),
		cmocka_unit_test(names_the_column_of_a_fault),
		cmocka_unit_test(bounds_depth_and_length),
		cmocka_unit_test(tells_what_it_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
