/* Elements: half and bfloat16, what agrees within tolerances, canaries, random content. */
#include "tune/compare.h"
#include "tune/element.h"
#include "tune/fill.h"
#include "tune/floating.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* IEEE 754-2008, binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits; ties go to the even neighbour. */
static void half_rounds_to_nearest_even(void **state)
{
	static const struct {
		double value;
		uint16_t bits;
	} cases[] = {
		{ 1, 0x3c00 },           { -2, 0xc000 },          { 65504, 0x7bff },
		{ 65519.99, 0x7bff },    { 65520, 0x7c00 },       { 0x1p-24, 0x0001 },
		{ 0x1p-25, 0x0000 },     { 0x1.8p-24, 0x0002 },   { 0x1p-14, 0x0400 },
		{ 0x1.ff8p-15, 0x03ff }, { 0x1.ffcp-15, 0x0400 }, { 2049, 0x6800 },
		{ 2051, 0x6802 },        { 2047.75, 0x6800 },     { -0.0, 0x8000 },
		{ 0.1, 0x2e66 },         { INFINITY, 0x7c00 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(fw_tune_half_bits(cases[i].value), cases[i].bits);
	assert_true(isnan(fw_tune_floating_value(FW_TUNE_F16, fw_tune_half_bits(NAN))));
	/* Every half is its own nearest. */
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		double value = fw_tune_floating_value(FW_TUNE_F16, bits);

		if (!isnan(value))
			assert_int_equal(fw_tune_half_bits(value), bits);
	}
}

/* The upper half of a float: pi, 0x40490fdb, lies nearer to 0x4049; 1 + 2^-8 is a tie. */
static void bfloat_rounds_to_nearest_even(void **state)
{
	(void)state;
	assert_int_equal(fw_tune_bfloat_bits(1), 0x3f80);
	assert_int_equal(fw_tune_bfloat_bits(3.14159265358979), 0x4049);
	assert_int_equal(fw_tune_bfloat_bits(1 + 0x1p-8), 0x3f80);
	assert_int_equal(fw_tune_bfloat_bits(1 + 3 * 0x1p-8), 0x3f82);
	assert_true(isnan(fw_tune_floating_value(FW_TUNE_BF16, fw_tune_bfloat_bits(NAN))));
	assert_float_equal(fw_tune_floating_value(FW_TUNE_BF16, 0xc000), -2, 0);
}

struct buffer {
	unsigned char front[FW_TUNE_CANARY_BYTES];
	unsigned char
		data[64 + FW_TUNE_CANARY_BYTES]; /* the rear canary begins where the elements end */
};

/* What the check says of n elements of got against want. */
static struct fw_tune_findings check(enum fw_tune_type type, const void *got, const void *want,
				     uint64_t n, double rel, double abs)
{
	struct fw_tune_findings findings = { .first_wrong = FW_TUNE_NO_PLACE,
					     .first_outside = FW_TUNE_NO_PLACE };
	uint32_t width = fw_tune_type_bytes(type);
	struct buffer buffer;
	struct fw_tune_check c = { .base = (uintptr_t)&buffer,
				   .want = (uintptr_t)want,
				   .findings = (uintptr_t)&findings,
				   .elements = n,
				   .rel = rel,
				   .abs = abs,
				   .type = type,
				   .width = width };

	memset(&buffer, FW_TUNE_CANARY, sizeof(buffer));
	memcpy(buffer.data, got, n * width);
	fw_tune_check_host(&c);
	assert_int_equal(findings.outside, 0);
	return findings;
}

static void floats_agree_within_tolerances(void **state)
{
	const float want[] = { 100, 0, NAN, INFINITY, 1, 1, -100, INFINITY };
	const float good[] = { 100.09f, 1e-4f, NAN, INFINITY, 1, 1.001f, -99.91f, INFINITY };
	const float bad[] = { 100.2f, 3e-4f, 1, 3e38f, NAN, 1.002f, 100, -INFINITY };

	(void)state;
	/* |got - want| <= 2e-4 + 1e-3 |want| */
	assert_int_equal(check(FW_TUNE_F32, good, want, 8, 1e-3, 2e-4).wrong, 0);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(check(FW_TUNE_F32, bad + i, want + i, 1, 1e-3, 2e-4).wrong, 1);
	assert_int_equal(check(FW_TUNE_F32, bad, want, 8, 1e-3, 2e-4).wrong, 8);
}

static void the_first_wrong_one_is_told(void **state)
{
	const int16_t want[] = { 1, 2, 3, 4 }, got[] = { 1, 2, 4, 5 };
	const uint16_t halves[] = { 0x3c00, 0x3c01 }, other[] = { 0x3c00, 0x3c03 };
	const int64_t large[] = { INT64_MAX }, less[] = { INT64_MAX - 1 };
	struct fw_tune_findings findings = check(FW_TUNE_I16, got, want, 4, 0.5, 10);

	(void)state;
	/* Integers exactly, whatever the tolerances. */
	assert_int_equal(findings.wrong, 2);
	assert_int_equal(findings.first_wrong, 2);
	assert_int_equal(check(FW_TUNE_I64, less, large, 1, 1, 1).wrong, 1);
	/* 1 + 2^-10 and 1 + 3 * 2^-10. */
	assert_int_equal(check(FW_TUNE_F16, other, halves, 2, 0, 0x1.8p-9).wrong, 0);
	assert_int_equal(check(FW_TUNE_F16, other, halves, 2, 0, 0x1p-10).first_wrong, 1);
}

static void one_byte_of_a_canary_is_seen(void **state)
{
	static const uint64_t places[] = { 0, FW_TUNE_CANARY_BYTES - 1, FW_TUNE_CANARY_BYTES + 12,
					   2 * FW_TUNE_CANARY_BYTES + 11 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct fw_tune_findings findings = { .first_outside = FW_TUNE_NO_PLACE };
		struct buffer buffer;
		struct fw_tune_check c = { .base = (uintptr_t)&buffer,
					   .findings = (uintptr_t)&findings,
					   .elements = 3,
					   .width = 4 };

		memset(&buffer, FW_TUNE_CANARY, sizeof(buffer));
		memset(buffer.data, 0, 12);
		((unsigned char *)&buffer)[places[i]] ^= 1;
		fw_tune_check_host(&c);
		assert_int_equal(findings.outside, 1);
		assert_int_equal(findings.first_outside, places[i]);
		assert_int_equal(findings.wrong, 0);
	}
}

static void elements_are_told_in_words(void **state)
{
	static const struct {
		enum fw_tune_type type;
		uint64_t bits;
		const char *text;
	} cases[] = {
		{ FW_TUNE_F32, 0x3fc00000, "1.5" },
		{ FW_TUNE_F32, 0xffffffff, "nothing written" },
		{ FW_TUNE_F32, 0x7fc00000, "nan" },
		{ FW_TUNE_F16, 0x3800, "0.5" },
		{ FW_TUNE_I8, 0xff, "-1" },
		{ FW_TUNE_U8, 0xff, "255" },
		{ FW_TUNE_I32, 0x80000000, "-2147483648" },
		{ FW_TUNE_U64, UINT64_MAX, "18446744073709551615" },
	};
	char text[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fw_tune_element_text(cases[i].type, &cases[i].bits, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static void fill(struct fw_tune_spec *spec, enum fw_tune_type type, enum fw_tune_fill how,
		 double low, double high)
{
	memset(spec, 0, sizeof(*spec));
	spec->n_args = 1;
	spec->args[0] = (struct fw_tune_arg){ .type = type, .fill = how, .low = low, .high = high };
}

static struct fw_tune_spec spec;

static void random_content_depends_on_seed_and_place_alone(void **state)
{
	float all[1000], part[10], other[1000];
	double sum = 0;

	(void)state;
	fill(&spec, FW_TUNE_F32, FW_TUNE_RANDOM, -1, 3);
	fw_tune_fill(&spec, 0, 7, 0, 1000, all);
	fw_tune_fill(&spec, 0, 7, 500, 10, part);
	fw_tune_fill(&spec, 0, 8, 0, 1000, other);
	assert_memory_equal(all + 500, part, sizeof(part));
	assert_memory_not_equal(all, other, sizeof(all));
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(all[i] >= -1 && all[i] <= 3);
		sum += (double)all[i];
	}
	/* Mean 1, deviation 4 / sqrt(12) / sqrt(1000) = 0.037. */
	assert_true(fabs(sum / 1000 - 1) < 0.2);
}

static void integers_take_all_values_of_their_range(void **state)
{
	unsigned seen[5] = { 0 };
	int8_t values[500];
	uint16_t sequence[3];

	(void)state;
	fill(&spec, FW_TUNE_I8, FW_TUNE_RANDOM, -2, 2);
	fw_tune_fill(&spec, 0, 1, 0, 500, values);
	for (unsigned i = 0; i < 500; i++) {
		assert_true(values[i] >= -2 && values[i] <= 2);
		seen[values[i] + 2]++;
	}
	for (unsigned i = 0; i < 5; i++)
		assert_true(seen[i] > 50);
	fill(&spec, FW_TUNE_U16, FW_TUNE_SEQUENCE, 0, 0);
	fw_tune_fill(&spec, 0, 1, 65535, 3, sequence);
	assert_int_equal(sequence[0], 65535);
	assert_int_equal(sequence[2], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_rounds_to_nearest_even),
		cmocka_unit_test(bfloat_rounds_to_nearest_even),
		cmocka_unit_test(floats_agree_within_tolerances),
		cmocka_unit_test(the_first_wrong_one_is_told),
		cmocka_unit_test(one_byte_of_a_canary_is_seen),
		cmocka_unit_test(elements_are_told_in_words),
		cmocka_unit_test(random_content_depends_on_seed_and_place_alone),
		cmocka_unit_test(integers_take_all_values_of_their_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
