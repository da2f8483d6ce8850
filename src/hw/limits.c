/* The limits of each compute capability, from limits.def. */
#include "hw/limits.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Sizes of shared memory that an SM can be set to, in KB (cuda_occupancy.h 13.0). */
#define KB(x)               ((x)*1024u)
#define FW_CARVEOUTS_FIXED  { 0 }, 0
#define FW_CARVEOUTS_VOLTA  { 0, KB(8), KB(16), KB(32), KB(64), KB(96) }, 6
#define FW_CARVEOUTS_TURING { KB(32), KB(64) }, 2
#define FW_CARVEOUTS_100    { 0, KB(8), KB(16), KB(32), KB(64), KB(100) }, 6
#define FW_CARVEOUTS_164    { 0, KB(8), KB(16), KB(32), KB(64), KB(100), KB(132), KB(164) }, 8
#define FW_CARVEOUTS_228                                                                           \
	{ 0, KB(8), KB(16), KB(32), KB(64), KB(100), KB(132), KB(164), KB(196), KB(228) }, 10

#define FW_HW_LIMITS(cc, sources, w, b, sm, blk, opt, rsv, gran, sp, rb, rt, bar, carve, l1, cp,   \
		     cm)                                                                           \
	{ cc, sources, w,  b,   KB(sm), KB(blk), KB(opt), rsv, gran,                               \
	  sp, rb,      rt, bar, carve,  KB(l1),  cp,      cm },
static const struct fw_hw_limits table[] = {
#include "hw/limits.def"
};
#undef FW_HW_LIMITS

#define ROWS (sizeof(table) / sizeof(table[0]))

const struct fw_hw_limits *fw_hw_limits_all(size_t *count)
{
	*count = ROWS;
	return table;
}

static fw_status unknown(unsigned cc, size_t above, struct fw_error *err)
{
	unsigned lo = above ? table[above - 1].cc : 0, hi = above < ROWS ? table[above].cc : 0;

	if (!lo || !hi)
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"compute capability %u.%u is not known; the nearest known one is %u.%u",
			cc / 10, cc % 10, (lo + hi) / 10, (lo + hi) % 10);
	return fw_fail(
		err, FW_ERR_UNSUPPORTED,
		"compute capability %u.%u is not known; the nearest known ones are %u.%u and %u.%u",
		cc / 10, cc % 10, lo / 10, lo % 10, hi / 10, hi % 10);
}

fw_status fw_hw_limits_find(unsigned cc, const struct fw_hw_limits **limits, struct fw_error *err)
{
	size_t i = 0;

	while (i < ROWS && table[i].cc < cc)
		i++;
	if (i == ROWS || table[i].cc != cc)
		return unknown(cc, i, err);
	*limits = &table[i];
	return FW_OK;
}

/* One or two digits before the last one: "90", "121". Returns 0 where text has another form. */
static unsigned digits(const char *text, size_t len)
{
	unsigned value = 0;

	if (len < 2 || len > 3)
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return 0;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	return value;
}

fw_status fw_hw_cc_parse(const char *text, unsigned *cc, struct fw_error *err)
{
	bool is_sm = !strncmp(text, "sm_", 3) || !strncmp(text, "SM_", 3);
	const char *body = is_sm ? text + 3 : text;
	size_t len = strlen(body);
	char packed[4];

	if (is_sm && len && (body[len - 1] == 'a' || body[len - 1] == 'f'))
		len--;
	if (!is_sm && len >= 3 && len <= 4 && body[len - 2] == '.') {
		memcpy(packed, body, len - 2);
		packed[len - 2] = body[len - 1];
		*cc = digits(packed, len - 1);
	} else {
		*cc = digits(body, len);
	}
	if (!*cc)
		return fw_fail(err, FW_ERR_ARGUMENT, "'%.40s' is not a compute capability like 9.0",
			       text);
	return FW_OK;
}
