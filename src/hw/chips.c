/* GPUs by product name, from chips.def. Names are compared word by word, letters and digits apart. */
#include "hw/chips.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FW_HW_CHIP(name, cc, sms, source) { name, cc, sms, source },
static const struct fw_hw_chip table[] = {
#include "hw/chips.def"
};
#undef FW_HW_CHIP

#define ROWS (sizeof(table) / sizeof(table[0]))

/* A run of letters or of digits inside a name. */
struct word {
	const char *text;
	size_t len;
};

static struct word next_word(const char **cursor)
{
	const char *p = *cursor;
	struct word word;

	while (*p && !isalnum((unsigned char)*p))
		p++;
	word.text = p;
	if (isdigit((unsigned char)*p))
		while (isdigit((unsigned char)*p))
			p++;
	else
		while (isalpha((unsigned char)*p))
			p++;
	word.len = (size_t)(p - word.text);
	*cursor = p;
	return word;
}

static bool word_is(struct word word, const char *text)
{
	return strlen(text) == word.len && !strncasecmp(word.text, text, word.len);
}

static bool is_any(struct word word, const char *const *list)
{
	for (; *list; list++)
		if (word_is(word, *list))
			return true;
	return false;
}

/* name after the words that a driver puts before the product: "NVIDIA GeForce RTX 3090". */
static const char *after_family(const char *name)
{
	static const char *const family[] = { "nvidia", "tesla", "geforce", NULL };
	const char *cursor = name;

	while (is_any(next_word(&cursor), family))
		name = cursor;
	return name;
}

/* Memory sizes and sockets that do not change the number of SMs: "-SXM4-80GB", " 80GB HBM3". */
static bool is_variant_only(const char *rest)
{
	static const char *const harmless[] = { "gb",      "sxm",         "pcie",   "hbm",
						"e",       "workstation", "server", "generation",
						"edition", "gpu",         NULL };
	struct word word;

	while ((word = next_word(&rest)).len)
		if (!isdigit((unsigned char)word.text[0]) && !is_any(word, harmless))
			return false;
	return !*rest;
}

/* Words of chip that name starts with; 0 unless all of them do and what follows changes nothing. */
static size_t match(const char *name, const char *chip)
{
	size_t words = 0;

	for (;;) {
		struct word want = next_word(&chip), got;

		if (!want.len)
			return is_variant_only(name) ? words : 0;
		got = next_word(&name);
		if (want.len != got.len || strncasecmp(want.text, got.text, want.len))
			return 0;
		words++;
	}
}

static bool is_similar(const char *name, const char *chip)
{
	struct word word;

	/* A shared number ("4090", "100") is what people get right. */
	while ((word = next_word(&name)).len) {
		const char *cursor = chip;
		struct word other;

		while (isdigit((unsigned char)word.text[0]) && (other = next_word(&cursor)).len)
			if (word.len == other.len && !strncmp(word.text, other.text, word.len))
				return true;
	}
	return false;
}

static fw_status unknown(const char *name, struct fw_error *err)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < ROWS && used + 40 < sizeof(list); i++)
		if (is_similar(name, table[i].name))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", table[i].name);
	if (!used)
		snprintf(list, sizeof(list), "none; a compute capability works for any GPU");
	return fw_fail(err, FW_ERR_UNSUPPORTED, "GPU '%.64s' is not known; similar names: %s", name,
		       list);
}

fw_status fw_hw_chip_find(const char *name, const struct fw_hw_chip **chip, struct fw_error *err)
{
	const char *product = after_family(name);
	size_t best = 0, words;

	for (size_t i = 0; i < ROWS; i++) {
		words = match(product, table[i].name);
		if (words > best) {
			best = words;
			*chip = &table[i];
		}
	}
	return best ? FW_OK : unknown(name, err);
}

const struct fw_hw_chip *fw_hw_chips_all(size_t *count)
{
	*count = ROWS;
	return table;
}
