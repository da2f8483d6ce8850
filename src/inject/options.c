#include "inject/options.h"

#include "trace/recording_control.h"

#include <stdlib.h>
#include <string.h>

/* A value of FULLWARP_RECORD_OPTIONS: bytes between '=' and ';'. */
struct value {
	const char *text;
	size_t bytes;
};

static bool is(struct value v, const char *word)
{
	return v.bytes == strlen(word) && memcmp(v.text, word, v.bytes) == 0;
}

/* UINT64_MAX: not a number. */
static uint64_t number(struct value v)
{
	uint64_t n = 0;

	for (size_t i = 0; i < v.bytes; i++) {
		if (v.text[i] < '0' || v.text[i] > '9' || n > UINT64_MAX / 10 - 10)
			return UINT64_MAX;
		n = n * 10 + (uint64_t)(v.text[i] - '0');
	}
	return v.bytes ? n : UINT64_MAX;
}

static void set_size(size_t *to, struct value v, size_t least, size_t most)
{
	uint64_t n = number(v);

	if (n != UINT64_MAX)
		*to = n < least ? least : n > most ? most : (size_t)n;
}

static void set_unsigned(unsigned *to, struct value v, unsigned least, unsigned most)
{
	size_t n = *to;

	set_size(&n, v, least, most);
	*to = (unsigned)n;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %XX is one byte. Too long, or a NUL within: "". */
static void set_text(char to[FW_INJECT_TEXT_BYTES], struct value v)
{
	size_t n = 0;

	for (size_t i = 0; i < v.bytes; i++) {
		char c = v.text[i];

		if (c == '%' && i + 2 < v.bytes && hex(v.text[i + 1]) >= 0 &&
		    hex(v.text[i + 2]) >= 0) {
			c = (char)(hex(v.text[i + 1]) << 4 | hex(v.text[i + 2]));
			i += 2;
		}
		if (!c || n == FW_INJECT_TEXT_BYTES - 1) {
			n = 0;
			break;
		}
		to[n++] = c;
	}
	to[n] = 0;
}

static void set(struct fw_inject_options *o, struct value key, struct value v)
{
	if (is(key, FW_REC_OPTION_GRAPHS))
		o->graph_nodes = is(v, "node");
	else if (is(key, FW_REC_OPTION_SYNCS))
		o->syncs = is(v, "1");
	else if (is(key, FW_REC_OPTION_RANGE))
		o->is_ranged = is(v, "cuda-profiler");
	else if (is(key, FW_REC_OPTION_KERNELS))
		set_text(o->kernels, v);
	else if (is(key, FW_REC_OPTION_MAX_BYTES))
		o->max_bytes = number(v) == UINT64_MAX ? 0 : number(v);
	else if (is(key, "inject_buffers"))
		set_unsigned(&o->buffers, v, 2, 256);
	else if (is(key, "inject_buffer_bytes"))
		set_size(&o->buffer_bytes, v, 1024, 64u << 20);
	else if (is(key, "inject_buffer_bytes_min"))
		set_size(&o->buffer_bytes_min, v, 1024, 64u << 20);
	else if (is(key, "inject_flush_ms"))
		set_unsigned(&o->flush_ms, v, 0, 60000);
	else if (is(key, "inject_period_ms"))
		set_unsigned(&o->period_ms, v, 0, 60000);
	else if (is(key, "inject_flush_forced"))
		o->flush_forced = is(v, "1");
	else if (is(key, "inject_without"))
		set_text(o->without, v);
}

void fw_inject_options_parse(struct fw_inject_options *options, const char *dir, const char *text)
{
	*options = (struct fw_inject_options){
		.buffers = 128,
		.buffer_bytes = 256u << 10,
		.buffer_bytes_min = 16u << 10,
		.flush_ms = 50,
	};
	if (dir && dir[0] == '/' && strlen(dir) < sizeof(options->dir))
		memcpy(options->dir, dir, strlen(dir) + 1);
	while (text && *text) {
		size_t bytes = strcspn(text, ";");
		const char *equals = memchr(text, '=', bytes);

		if (equals)
			set(options, (struct value){ text, (size_t)(equals - text) },
			    (struct value){ equals + 1, bytes - (size_t)(equals - text) - 1 });
		text += bytes + (text[bytes] == ';');
	}
	if (options->buffer_bytes_min > options->buffer_bytes)
		options->buffer_bytes_min = options->buffer_bytes;
}

bool fw_inject_is_without(const struct fw_inject_options *options, const char *kind)
{
	const char *at = options->without;

	while (*at) {
		size_t bytes = strcspn(at, ",");

		if (is((struct value){ at, bytes }, kind))
			return true;
		at += bytes + (at[bytes] == ',');
	}
	return false;
}
