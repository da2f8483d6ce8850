#include "import/decimal.h"

#include <stdbool.h>

/* Exponents past this give 0 or a value out of range whatever the digits are. */
#define EXPONENT_LIMIT 100000

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * The digits of a number one after the other, with the point moved: digit i has the weight
 * 10^(point - 1 - i). Beyond the last digit come zeros.
 */
struct digits {
	const char *text;
	size_t len, dot; /* dot == len: none */
	int64_t count;   /* digits in all */
	int64_t point;   /* digits before the decimal point, after scaling; may be negative */
};

static int digit_at(const struct digits *d, int64_t i)
{
	size_t at;

	if (i < 0 || i >= d->count)
		return 0;
	at = (size_t)i;
	return d->text[at < d->dot ? at : at + 1] - '0';
}

/* Reads [e|E][sign]digits at text[i..len); false if it is not that. */
static bool read_exponent(const char *text, size_t i, size_t len, int64_t *exponent)
{
	bool negative = false;
	int64_t value = 0;

	i++;
	if (i < len && (text[i] == '+' || text[i] == '-'))
		negative = text[i++] == '-';
	if (i == len)
		return false;
	for (; i < len; i++) {
		if (!is_digit(text[i]))
			return false;
		if (value < EXPONENT_LIMIT)
			value = value * 10 + (text[i] - '0');
	}
	*exponent = negative ? -value : value;
	return true;
}

static bool split(const char *text, size_t len, struct digits *d, int64_t *exponent)
{
	size_t i = 0;

	*exponent = 0;
	*d = (struct digits){ .text = text, .dot = SIZE_MAX };
	for (; i < len && (is_digit(text[i]) || (text[i] == '.' && d->dot == SIZE_MAX)); i++) {
		if (text[i] == '.')
			d->dot = i;
		else
			d->count++;
	}
	d->len = i;
	if (d->dot == SIZE_MAX)
		d->dot = i;
	d->point = (int64_t)d->dot;
	if (!d->count || (i < len && text[i] != 'e' && text[i] != 'E'))
		return false;
	return i == len || read_exponent(text, i, len, exponent);
}

/* Half to even: what follows digit `at` - 1 decides whether value grows by one. */
static bool rounds_up(const struct digits *d, int64_t at, int64_t value)
{
	int first = digit_at(d, at);

	if (at < 0 || first != 5)
		return at >= 0 && first > 5;
	for (int64_t i = at + 1; i < d->count; i++)
		if (digit_at(d, i))
			return true;
	return value & 1;
}

static enum fw_decimal_result parse_any(const char *text, size_t len, int scale, int64_t *out)
{
	struct digits d;
	int64_t exponent, value = 0;

	if (!split(text, len, &d, &exponent))
		return FW_DECIMAL_NOT_A_NUMBER;
	d.point += exponent + scale;
	for (int64_t i = 0; i < d.point; i++) {
		if (i >= d.count && !value)
			break;
		if (value > FW_DECIMAL_MAX / 10)
			return FW_DECIMAL_OUT_OF_RANGE;
		value = value * 10 + digit_at(&d, i);
	}
	if (rounds_up(&d, d.point, value))
		value++;
	if (value > FW_DECIMAL_MAX)
		return FW_DECIMAL_OUT_OF_RANGE;
	*out = value;
	return FW_DECIMAL_OK;
}

/* The usual forms: up to 15 digits, then nothing, or a point and at most `scale` digits. */
static bool parse_plain(const char *text, size_t len, int scale, int64_t *out)
{
	int64_t value = 0;
	size_t i = 0;

	while (i < len && i < 15 && is_digit(text[i]))
		value = value * 10 + (text[i++] - '0');
	if (!i || (i < len && text[i] != '.'))
		return false;
	if (i < len) {
		i++;
		if (i == len)
			return false;
		for (; i < len && scale > 0 && is_digit(text[i]); i++, scale--)
			value = value * 10 + (text[i] - '0');
	}
	if (i != len)
		return false;
	for (; scale > 0; scale--)
		value *= 10;
	*out = value;
	return true;
}

enum fw_decimal_result fw_decimal_parse(const char *text, size_t len, int scale, int64_t *out)
{
	bool negative = len && *text == '-';
	enum fw_decimal_result result = FW_DECIMAL_OK;
	int64_t value = 0;

	if (negative || (len && *text == '+')) {
		text++;
		len--;
	}
	if (!parse_plain(text, len, scale, &value))
		result = parse_any(text, len, scale, &value);
	else if (value > FW_DECIMAL_MAX)
		return FW_DECIMAL_OUT_OF_RANGE;
	if (result == FW_DECIMAL_OK)
		*out = negative ? -value : value;
	return result;
}
