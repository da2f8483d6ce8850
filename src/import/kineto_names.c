/* Names: made valid text, kept once, and asked once what they say. */
#include "import/kineto.h"

#include "base/utf8.h"
#include "trace/op_names.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

struct mended {
	bool escapes, controls, utf8;
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The 16 bits of "XXXX" at p, or -1. */
static long read_hex(const char *p, const char *end)
{
	long value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_value(p[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

static void put_character(struct fw_str *out, unsigned long c)
{
	char b[4];

	if (c < 0x80) {
		fw_str_putc(out, (char)c);
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		fw_str_append(out, b, 2);
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		fw_str_append(out, b, 3);
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 0x3f));
		b[2] = (char)(0x80 | (c >> 6 & 0x3f));
		b[3] = (char)(0x80 | (c & 0x3f));
		fw_str_append(out, b, 4);
	}
}

/* \uXXXX, p behind the u. Pairs of surrogates are one character; a lone one, or 0, is none. */
static const char *put_unicode(struct fw_str *out, const char *p, const char *end,
			       struct mended *mended)
{
	long c = read_hex(p, end), low;

	if (c < 0) {
		mended->escapes = true;
		fw_str_puts(out, "\\u");
		return p;
	}
	p += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
		low = read_hex(p + 2, end);
		if (low >= 0xdc00 && low < 0xe000) {
			put_character(out, 0x10000ul + ((unsigned long)(c - 0xd800) << 10) +
						   (unsigned long)(low - 0xdc00));
			return p + 6;
		}
	}
	if (!c || (c >= 0xd800 && c < 0xe000)) {
		mended->escapes = true;
		fw_str_puts(out, REPLACEMENT);
	} else {
		put_character(out, (unsigned long)c);
	}
	return p;
}

/* What follows a backslash. An escape that JSON does not have stays as it is written. */
static const char *put_escape(struct fw_str *out, const char *p, const char *end,
			      struct mended *mended)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = p < end && *p ? strchr(from, *p) : NULL;

	if (p < end && *p == 'u')
		return put_unicode(out, p + 1, end, mended);
	if (!at) {
		mended->escapes = true;
		fw_str_putc(out, '\\');
		return p;
	}
	fw_str_putc(out, to[at - from]);
	return p + 1;
}

static void put_text(struct fw_str *out, const char *p, const char *end, struct mended *mended)
{
	while (p < end) {
		size_t n = fw_utf8_length(p, (size_t)(end - p));

		if (*p == '\\') {
			p = put_escape(out, p + 1, end, mended);
		} else if ((unsigned char)*p < 0x20) {
			mended->controls = true;
			fw_str_puts(out, REPLACEMENT);
			p++;
		} else if (!n) {
			mended->utf8 = true;
			fw_str_puts(out, REPLACEMENT);
			p++;
		} else {
			fw_str_append(out, p, n);
			p += n;
		}
	}
}

uint32_t fw_kineto_intern(struct fw_kineto *k, const struct fw_lex_text *text, uint64_t offset)
{
	struct fw_integrity *flaws = &k->trace->integrity;
	struct mended mended = { false, false, false };

	if (text->flags & FW_TEXT_REPAIRED)
		fw_kineto_flaw(k, &flaws->unescaped_quotes, offset);
	if (!(text->flags & (FW_TEXT_ESCAPED | FW_TEXT_CONTROL | FW_TEXT_HIGH)))
		return fw_trace_intern(k->trace, text->p, text->len, &k->is_out_of_memory);
	fw_str_clear(&k->scratch);
	put_text(&k->scratch, text->p, text->p + text->len, &mended);
	k->is_out_of_memory |= k->scratch.failed;
	if (mended.escapes)
		fw_kineto_flaw(k, &flaws->bad_escapes, offset);
	if (mended.controls)
		fw_kineto_flaw(k, &flaws->control_characters, offset);
	if (mended.utf8)
		fw_kineto_flaw(k, &flaws->invalid_utf8, offset);
	return fw_trace_intern(k->trace, fw_str_text(&k->scratch), k->scratch.len,
			       &k->is_out_of_memory);
}

static bool has_word(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

static bool starts_with(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

static uint8_t owner_of_copy(const char *name)
{
	if (has_word(name, "HtoD") || has_word(name, "HtoA") || has_word(name, "HostToDevice"))
		return FW_CLASS_COPY_H2D;
	if (has_word(name, "DtoH") || has_word(name, "AtoH") || has_word(name, "DeviceToHost"))
		return FW_CLASS_COPY_D2H;
	return has_word(name, "PtoP") ? FW_CLASS_COPY_P2P : FW_CLASS_COPY_D2D;
}

static uint8_t direction_of(const char *name)
{
	static const struct {
		const char *word;
		uint8_t direction;
	} words[] = {
		{ "HtoD", FW_COPY_HTOD },           { "DtoH", FW_COPY_DTOH },
		{ "HtoA", FW_COPY_HTOA },           { "AtoH", FW_COPY_ATOH },
		{ "AtoA", FW_COPY_ATOA },           { "AtoD", FW_COPY_ATOD },
		{ "DtoA", FW_COPY_DTOA },           { "DtoD", FW_COPY_DTOD },
		{ "HtoH", FW_COPY_HTOH },           { "PtoP", FW_COPY_PTOP },
		{ "HostToDevice", FW_COPY_HTOD },   { "DeviceToHost", FW_COPY_DTOH },
		{ "DeviceToDevice", FW_COPY_DTOD },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (has_word(name, words[i].word))
			return words[i].direction;
	return FW_COPY_UNKNOWN;
}

/* The kind of memory that the text starts with, as Kineto spells it. */
static uint8_t memory_of(const char *text)
{
	static const struct {
		const char *word;
		uint8_t kind;
	} words[] = {
		/* The longer words of the same beginning come first. */
		{ "Device Static", FW_MEM_DEVICE_STATIC },
		{ "Managed Static", FW_MEM_MANAGED_STATIC },
		{ "Pageable", FW_MEM_PAGEABLE },
		{ "Pinned", FW_MEM_PINNED },
		{ "Device", FW_MEM_DEVICE },
		{ "Array", FW_MEM_ARRAY },
		{ "Managed", FW_MEM_MANAGED },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (starts_with(text, words[i].word))
			return words[i].kind;
	return FW_MEM_UNKNOWN;
}

static void learn(const char *name, struct fw_name_facts *f)
{
	const char *from = strchr(name, '('), *to = strstr(name, "-> ");

	f->is_known = true;
	f->is_collective = fw_is_collective_name(name);
	f->is_input = has_word(name, "DataLoader") && has_word(name, "__next__");
	f->is_step = starts_with(name, "ProfilerStep#");
	f->is_container = f->is_step || starts_with(name, "Optimizer.");
	f->copy_owner = owner_of_copy(name);
	f->direction = direction_of(name);
	f->src = from ? memory_of(from + 1) : FW_MEM_UNKNOWN;
	f->dst = to ? memory_of(to + 3) : f->src;
}

const struct fw_name_facts *fw_kineto_name(struct fw_kineto *k, uint32_t name)
{
	static const struct fw_name_facts nothing;
	struct fw_name_facts *facts;

	while (k->names.len <= name)
		if (!fw_vec_push(&k->names)) {
			k->is_out_of_memory = true;
			return &nothing;
		}
	facts = (struct fw_name_facts *)k->names.data + name;
	if (!facts->is_known)
		learn(fw_trace_text(k->trace, name), facts);
	return facts;
}
