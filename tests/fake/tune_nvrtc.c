/*
 * A stand-in for libnvrtc: what comes of a compile stands in the source itself, in comment lines
 *
 *   // fake KERNEL [NAME=VALUE...]: KEY VALUE
 *
 * that hold where the compiler was given -DNAME=VALUE for each pair (or --NAME=VALUE for "--NAME=VALUE"); the last one
 * of a key counts. KERNEL is the name asked for up to "<", or * for the compile itself:
 *
 *   * error TEXT      the log says so and the compile fails       registers N      default 32
 *   * crash SIGNAL    the process gets that signal                smem N           static, bytes
 *   * hang 1          the compile never returns                   spills N         bytes, in the log
 *   * say TEXT        on stderr                                   max_threads N    launch bound
 *   * bytes N         of padding in the cubin                     other keys       go into the kernel's code, where the
 *                                                                                  stand-in for libcuda reads them
 * A kernel without any writes the same into every output, in a time that depends on the options.
 */
#include <ctype.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API   __attribute__((visibility("default")))
#define NAMES 4u

struct buffer {
	unsigned char *data;
	size_t size, room;
};

struct program {
	char *source, *name;
	char *asked[NAMES], lowered[NAMES][128];
	unsigned count;
	struct buffer log, cubin;
};

static void put(struct buffer *b, const void *data, size_t size)
{
	if (b->size + size > b->room) {
		b->room = (b->size + size) * 2;
		b->data = realloc(b->data, b->room);
		if (!b->data)
			abort();
	}
	if (size)
		memcpy(b->data + b->size, data, size);
	b->size += size;
}

static void put_number(struct buffer *b, uint64_t value, size_t bytes)
{
	put(b, &value, bytes); /* little-endian, as the machines that this runs on */
}

static void put_text(struct buffer *b, const char *text)
{
	put(b, text, strlen(text));
}

/* Whether each NAME=VALUE before the colon is among the options. */
static int holds(const char *pairs, const char *end, int n, const char *const *options)
{
	while (pairs < end) {
		size_t len;
		char option[128];
		int found = 0;

		pairs += strspn(pairs, " ");
		len = strcspn(pairs, " :\n");
		if (!len)
			return 1;
		snprintf(option, sizeof(option), "%s%.*s", pairs[0] == '-' ? "" : "-D", (int)len,
			 pairs);
		for (int i = 0; i < n; i++)
			found |= !strcmp(options[i], option);
		if (!found)
			return 0;
		pairs += len;
	}
	return 1;
}

struct setting {
	const char *text; /* NULL: none */
	int len;
};

struct options {
	int n;
	const char *const *items;
};

/* KEY's last value that holds for the kernel; with key NULL, the nth KEY VALUE. */
static struct setting find(const struct program *p, const struct options *o, const char *kernel,
			   const char *key, unsigned nth)
{
	struct setting found = { NULL, 0 };
	size_t kernel_len = strcspn(kernel, "<");

	for (const char *at = p->source; (at = strstr(at, "// fake ")); at++) {
		const char *name = at + 8, *colon, *value;
		size_t len = strcspn(name, " :\n");

		colon = name + strcspn(name, ":\n");
		if (len != kernel_len || strncmp(name, kernel, len) || *colon != ':' ||
		    !holds(name + len, colon, o->n, o->items))
			continue;
		value = colon + 1 + strspn(colon + 1, " ");
		if (key) {
			if (strncmp(value, key, strlen(key)) || value[strlen(key)] != ' ')
				continue;
			value += strlen(key) + 1;
		} else if (nth--) {
			continue;
		}
		found = (struct setting){ value, (int)strcspn(value, "\n") };
		if (!key)
			return found;
	}
	return found;
}

static long number(const struct program *p, const struct options *o, const char *kernel,
		   const char *key, long otherwise)
{
	struct setting s = find(p, o, kernel, key, 0);

	return s.text ? strtol(s.text, NULL, 0) : otherwise;
}

/* "conv<32, float>" is _Z15conv_32__float_, so that equal names are equal. */
static void lower(const char *name, char lowered[128])
{
	int n = snprintf(lowered, 128, "_Z%zu%s", strlen(name), name);

	for (int i = 0; i < n && i < 127; i++)
		if (!isalnum((unsigned char)lowered[i]))
			lowered[i] = '_';
}

/* An ELF file of CUDA's ABI 8 under construction (docs/format/cubin.md). */
struct elf {
	struct buffer file, sections, names;
	unsigned count;
};

static unsigned section(struct elf *e, const char *name, uint32_t type, const struct buffer *data,
			uint64_t size_or_link)
{
	uint64_t offset = e->file.size;

	put_number(&e->sections, e->names.size, 4);
	put(&e->names, name, strlen(name) + 1);
	put_number(&e->sections, type, 4);
	put_number(&e->sections, 0, 8);
	put_number(&e->sections, 0, 8);
	put_number(&e->sections, offset, 8);
	put_number(&e->sections, data ? data->size : size_or_link, 8);
	put_number(&e->sections, data ? size_or_link : 0, 4);
	put_number(&e->sections, 0, 4);
	put_number(&e->sections, 0, 8);
	put_number(&e->sections, 0, 8);
	if (data)
		put(&e->file, data->data, data->size);
	return e->count++;
}

static void put_record(struct buffer *b, unsigned code, unsigned n, const uint32_t *words)
{
	put_number(b, 4, 1);
	put_number(b, code, 1);
	put_number(b, n * 4, 2);
	for (unsigned i = 0; i < n; i++)
		put_number(b, words[i], 4);
}

/* Of the options, so that configurations differ. */
static unsigned hash(const struct options *o)
{
	unsigned h = 2166136261u; /* FNV-1a */

	for (int i = 0; i < o->n; i++)
		for (const char *c = o->items[i]; *c; c++)
			h = (h ^ (unsigned char)*c) * 16777619u;
	return h;
}

/* One kernel's sections, and its symbol. */
static void add_kernel(struct program *p, const struct options *o, struct elf *e, unsigned i,
		       struct buffer *strings, struct buffer *symbols, struct buffer *global)
{
	struct buffer text = { 0 }, info = { 0 };
	uint32_t regs[2] = { i + 1, (uint32_t)number(p, o, p->asked[i], "registers", 32) };
	uint32_t bound[3] = { (uint32_t)number(p, o, p->asked[i], "max_threads", 0), 1, 1 };
	long smem = number(p, o, p->asked[i], "smem", 0);
	char name[160], line[256];
	struct setting s;
	unsigned index;

	for (unsigned n = 0; (s = find(p, o, p->asked[i], NULL, n)).text; n++) {
		put(&text, s.text, (size_t)s.len);
		put_text(&text, "\n");
	}
	if (!text.size) {
		snprintf(line, sizeof(line), "effect touch\ntime_us %u\n", 50 + hash(o) % 450);
		put_text(&text, line);
	}
	put_number(&text, 0, 8);
	snprintf(name, sizeof(name), ".text.%s", p->lowered[i]);
	index = section(e, name, 1, &text, 0);
	put_number(symbols, strings->size, 4);
	put(strings, p->lowered[i], strlen(p->lowered[i]) + 1);
	put_number(symbols, 0x12, 1);
	put_number(symbols, 0x10, 1);
	put_number(symbols, index, 2);
	put_number(symbols, 0, 8);
	put_number(symbols, 0, 8);
	put_record(global, 0x2f, 2, regs);
	if (bound[0])
		put_record(&info, 0x05, 3, bound);
	snprintf(name, sizeof(name), ".nv.info.%s", p->lowered[i]);
	section(e, name, 0x70000000, &info, 0);
	snprintf(name, sizeof(name), ".nv.shared.%s", p->lowered[i]);
	/* From 9.0 on the section holds the driver's reserve of 1 KB too. */
	if (smem)
		section(e, name, 8, NULL, (uint64_t)smem + 1024);
	snprintf(line, sizeof(line),
		 "ptxas info    : Function properties for %s\n"
		 "ptxas         .     0 bytes stack frame, %ld bytes spill stores, 0 bytes spill "
		 "loads\n",
		 p->lowered[i], number(p, o, p->asked[i], "spills", 0));
	put_text(&p->log, line);
	free(text.data);
	free(info.data);
}

static void link_elf(struct program *p, struct elf *e)
{
	unsigned names = e->count;

	section(e, ".shstrtab", 3, NULL, 0);
	memcpy(e->sections.data + names * 64 + 32, &e->names.size, 8);
	put(&e->file, e->names.data, e->names.size);
	memcpy(e->file.data + 40, &e->file.size, 8);
	put(&e->file, e->sections.data, e->sections.size);
	e->file.data[60] = (unsigned char)e->count;
	e->file.data[62] = (unsigned char)names;
	p->cubin = e->file;
	free(e->sections.data);
	free(e->names.data);
}

static void build(struct program *p, const struct options *o, unsigned cc)
{
	struct buffer strings = { 0 }, symbols = { 0 }, global = { 0 }, padding = { 0 };
	long bytes = number(p, o, "*", "bytes", 0);
	struct elf e = { .count = 1 };
	unsigned table;

	put(&e.file, "\177ELF\2\1\1\101\10\0\0\0\0\0\0\0", 16);
	put_number(&e.file, 2, 2);
	put_number(&e.file, 190, 2);
	put_number(&e.file, 1, 4);
	for (int i = 0; i < 3; i++)
		put_number(&e.file, 0, 8);
	put_number(&e.file, 0x06000004u | cc << 8, 4);
	put_number(&e.file, 64, 2);
	put_number(&e.file, 0, 4);
	put_number(&e.file, 64, 2);
	put_number(&e.file, 0, 4);
	put(&e.names, "", 1);
	put(&strings, "", 1);
	for (int i = 0; i < 8; i++)
		put_number(&e.sections, 0, 8);
	for (int i = 0; i < 3; i++)
		put_number(&symbols, 0, 8);
	for (unsigned i = 0; i < p->count; i++)
		add_kernel(p, o, &e, i, &strings, &symbols, &global);
	table = section(&e, ".strtab", 3, &strings, 0);
	section(&e, ".symtab", 2, &symbols, table);
	section(&e, ".nv.info", 0x70000000, &global, 0);
	for (; bytes > 0; bytes -= 8)
		put_number(&padding, 0x5a5a5a5a5a5a5a5a, 8);
	section(&e, ".padding", 1, &padding, 0);
	link_elf(p, &e);
	free(strings.data);
	free(symbols.data);
	free(global.data);
	free(padding.data);
}

API int nvrtcVersion(int *major, int *minor)
{
	const char *version = getenv("FW_FAKE_NVRTC_VERSION");

	*major = 13;
	*minor = 0;
	return version && sscanf(version, "%d.%d", major, minor) != 2;
}

API const char *nvrtcGetErrorString(int result)
{
	return result == 6 ? "NVRTC_ERROR_COMPILATION" : result ? "NVRTC_ERROR" : "NVRTC_SUCCESS";
}

API int nvrtcCreateProgram(void **program, const char *source, const char *name, int n_headers,
			   const char *const *headers, const char *const *include_names)
{
	struct program *p = calloc(1, sizeof(*p));

	(void)n_headers;
	(void)headers;
	(void)include_names;
	if (!p)
		return 1;
	p->source = strdup(source);
	p->name = strdup(name ? name : "default_program");
	*program = p;
	return 0;
}

API int nvrtcDestroyProgram(void **program)
{
	struct program *p = *program;

	for (unsigned i = 0; i < p->count; i++)
		free(p->asked[i]);
	free(p->source);
	free(p->name);
	free(p->log.data);
	free(p->cubin.data);
	free(p);
	*program = NULL;
	return 0;
}

API int nvrtcAddNameExpression(void *program, const char *name)
{
	struct program *p = program;

	if (p->count == NAMES)
		return 1;
	p->asked[p->count++] = strdup(name);
	return 0;
}

API int nvrtcCompileProgram(void *program, int n_options, const char *const *options)
{
	struct program *p = program;
	struct options o = { n_options, options };
	struct setting error = find(p, &o, "*", "error", 0), say = find(p, &o, "*", "say", 0);
	long crash = number(p, &o, "*", "crash", 0);
	unsigned cc = 0;

	for (int i = 0; i < n_options; i++)
		sscanf(options[i], "--gpu-architecture=sm_%u", &cc);
	if (say.text)
		fprintf(stderr, "%.*s\n", say.len, say.text);
	if (crash) {
		signal((int)crash, SIG_DFL); /* before a sanitizer's own handler */
		raise((int)crash);
	}
	while (number(p, &o, "*", "hang", 0))
		pause();
	usleep((unsigned)number(p, &o, "*", "ms", 0) * 1000);
	if (error.text) {
		char line[512];

		snprintf(line, sizeof(line), "%s(1): error: %.*s\n\n1 error detected.\n", p->name,
			 error.len, error.text);
		put_text(&p->log, line);
		return 6;
	}
	for (unsigned i = 0; i < p->count; i++)
		lower(p->asked[i], p->lowered[i]);
	build(p, &o, cc);
	return 0;
}

API int nvrtcGetProgramLogSize(void *program, size_t *bytes)
{
	*bytes = ((struct program *)program)->log.size + 1;
	return 0;
}

API int nvrtcGetProgramLog(void *program, char *log)
{
	const struct program *p = program;

	if (p->log.size)
		memcpy(log, p->log.data, p->log.size);
	log[p->log.size] = 0;
	return 0;
}

API int nvrtcGetLoweredName(void *program, const char *name, const char **lowered)
{
	struct program *p = program;

	for (unsigned i = 0; i < p->count; i++)
		if (!strcmp(p->asked[i], name)) {
			*lowered = p->lowered[i];
			return 0;
		}
	return 1;
}

API int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
	*bytes = ((struct program *)program)->cubin.size;
	return 0;
}

API int nvrtcGetCUBIN(void *program, char *cubin)
{
	const struct program *p = program;

	memcpy(cubin, p->cubin.data, p->cubin.size);
	return 0;
}
