#include "import/kineto_event.h"

#include "import/decimal.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum how { INT, TRIPLE, TEXT };

static const struct {
	const char *name;
	uint8_t len;
	uint8_t how;
} args[] = {
#define FW_ARG(constant, name, how) { name, sizeof(name) - 1, how },
#include "import/kineto_args.def"
#undef FW_ARG
};

/* Also the names of the years before 2022. */
static const struct {
	const char *name;
	uint8_t len;
	uint8_t category;
} categories[] = {
#define CATEGORY(name, category)                                                                   \
	{                                                                                          \
		name, sizeof(name) - 1, category                                                   \
	}
	CATEGORY("cpu_op", FW_CAT_OPERATOR),
	CATEGORY("cuda_runtime", FW_CAT_CALL),
	CATEGORY("kernel", FW_CAT_KERNEL),
	CATEGORY("python_function", FW_CAT_PYTHON),
	CATEGORY("cuda_driver", FW_CAT_CALL),
	CATEGORY("gpu_memcpy", FW_CAT_MEMCPY),
	CATEGORY("gpu_memset", FW_CAT_MEMSET),
	CATEGORY("cpu_instant_event", FW_CAT_INSTANT),
	CATEGORY("user_annotation", FW_CAT_ANNOTATION),
	CATEGORY("cuda_sync", FW_CAT_SYNC),
	CATEGORY("overhead", FW_CAT_OVERHEAD),
	CATEGORY("gpu_user_annotation", FW_CAT_IGNORED),
	CATEGORY("cuda_event", FW_CAT_IGNORED),
	CATEGORY("Trace", FW_CAT_IGNORED),
	CATEGORY("cuda_profiler_range", FW_CAT_IGNORED),
	CATEGORY("external_correlation", FW_CAT_IGNORED),
	CATEGORY("Operator", FW_CAT_OPERATOR),
	CATEGORY("Runtime", FW_CAT_CALL),
	CATEGORY("Kernel", FW_CAT_KERNEL),
	CATEGORY("Memcpy", FW_CAT_MEMCPY),
	CATEGORY("Memset", FW_CAT_MEMSET),
#undef CATEGORY
};

static bool is_text(const struct fw_lex_text *text, const char *word, size_t len)
{
	return text->len == len && !memcmp(text->p, word, len);
}

#define IS(text, word) is_text(text, word, sizeof(word) - 1)

static uint8_t category_of(const struct fw_lex_text *text)
{
	for (size_t i = 0; i < COUNT(categories); i++)
		if (is_text(text, categories[i].name, categories[i].len))
			return categories[i].category;
	return FW_CAT_UNKNOWN;
}

static bool read_int(struct fw_lex *lex, int64_t *value)
{
	struct fw_lex_text text;

	fw_lex_value(lex, &text);
	return fw_decimal_parse(text.p, text.len, 0, value) == FW_DECIMAL_OK;
}

/* Exactly three integers, or the argument counts as absent. */
static void read_triple(struct fw_lex *lex, struct fw_event *e, size_t i)
{
	bool is_good = true;
	size_t n = 0;

	if (fw_lex_peek(lex) != '[') {
		fw_lex_skip(lex);
		return;
	}
	lex->p++;
	for (; fw_lex_element(lex, !n); n++) {
		int64_t value = 0;

		is_good &= read_int(lex, &value);
		if (n < 3)
			e->arg[i + n] = value;
	}
	if (is_good && n == 3)
		e->known |= UINT32_C(1) << i;
}

static void read_arg(struct fw_lex *lex, struct fw_event *e, size_t i)
{
	if (args[i].how == TRIPLE) {
		read_triple(lex, e, i);
		return;
	}
	if (args[i].how == TEXT) {
		fw_lex_value(lex, &e->text[i]);
		e->known |= (uint32_t)(e->text[i].len > 0) << i;
		return;
	}
	if (read_int(lex, &e->arg[i]))
		e->known |= UINT32_C(1) << i;
	else
		e->known &= ~(UINT32_C(1) << i);
}

static size_t arg_of(const struct fw_lex_text *key)
{
	if (!key->len)
		return COUNT(args);
	for (size_t i = 0; i < COUNT(args); i++)
		if (args[i].len == key->len && args[i].name[0] == *key->p &&
		    !memcmp(args[i].name, key->p, key->len))
			return i;
	return COUNT(args);
}

/* A sample has one number, under whatever key. */
static void read_sample(struct fw_lex *lex, struct fw_event *e)
{
	struct fw_lex_text text;
	char number[64];
	char *end;

	fw_lex_value(lex, &text);
	if (e->has_counter || !text.len || text.len >= sizeof(number))
		return;
	memcpy(number, text.p, text.len);
	number[text.len] = '\0';
	e->counter = strtod(number, &end);
	e->has_counter = *end == '\0' && e->counter - e->counter == 0;
}

static void read_args(struct fw_lex *lex, struct fw_event *e)
{
	struct fw_lex_text key;
	bool is_first = true;

	if (fw_lex_peek(lex) != '{') {
		fw_lex_skip(lex);
		return;
	}
	lex->p++;
	for (; fw_lex_key(lex, is_first, &key); is_first = false) {
		size_t i = arg_of(&key);

		if (i < COUNT(args))
			read_arg(lex, e, i);
		else if (e->phase == 'C')
			read_sample(lex, e);
		else
			fw_lex_skip(lex);
	}
}

/* False where the arguments give no column, as far as what was read of the event tells. */
static bool needs_args(const struct fw_event *e)
{
	switch (e->phase) {
	case 'X': break;
	case 'C':
	case 'M':
	case 'i':
	case 0: return true;
	default: return false;
	}
	return e->category != FW_CAT_OPERATOR && e->category != FW_CAT_PYTHON &&
	       e->category != FW_CAT_ANNOTATION && e->category != FW_CAT_OVERHEAD &&
	       e->category != FW_CAT_IGNORED;
}

/* The profiler's own words: where they seem to have quotes in them, one is missing elsewhere. */
static void read_word(struct fw_lex *lex, struct fw_lex_text *text)
{
	fw_lex_value(lex, text);
	if (fw_lex_ok(lex) && text->flags & FW_TEXT_REPAIRED)
		lex->state = FW_LEX_BAD;
}

static uint8_t read_time(struct fw_lex *lex, int64_t *ns)
{
	struct fw_lex_text text;

	read_word(lex, &text);
	return fw_decimal_parse(text.p, text.len, 3, ns) == FW_DECIMAL_OK ? FW_NUMBER_OK
									  : FW_NUMBER_BAD;
}

static void read_phase(struct fw_lex *lex, struct fw_event *e)
{
	struct fw_lex_text text;

	read_word(lex, &text);
	fw_lex_unescape(lex, &text);
	e->phase = text.len == 1 ? *text.p : '?';
}

static void read_category(struct fw_lex *lex, struct fw_event *e)
{
	struct fw_lex_text text;

	read_word(lex, &text);
	fw_lex_unescape(lex, &text);
	e->category = category_of(&text);
}

static void read_name(struct fw_lex *lex, struct fw_event *e)
{
	fw_lex_value(lex, &e->name);
	e->has_name = e->name.flags & FW_TEXT_QUOTED;
}

static void read_field(struct fw_lex *lex, struct fw_event *e, const struct fw_lex_text *key)
{
	switch (key->len) {
	case 2:
		if (IS(key, "ts"))
			e->ts_state = read_time(lex, &e->ts_ns);
		else if (IS(key, "ph"))
			read_phase(lex, e);
		else
			fw_lex_skip(lex);
		break;
	case 3:
		if (IS(key, "dur"))
			e->dur_state = read_time(lex, &e->dur_ns);
		else if (IS(key, "cat"))
			read_category(lex, e);
		else if (IS(key, "pid"))
			read_word(lex, &e->pid);
		else if (IS(key, "tid"))
			read_word(lex, &e->tid);
		else
			fw_lex_skip(lex);
		break;
	case 4:
		if (IS(key, "name"))
			read_name(lex, e);
		else if (IS(key, "args") && needs_args(e))
			read_args(lex, e);
		else
			fw_lex_skip(lex);
		break;
	default: fw_lex_skip(lex);
	}
}

static bool gives_nothing(const struct fw_event *e)
{
	switch (e->phase) {
	case 'X': return e->category == FW_CAT_IGNORED;
	case 'C':
	case 'M':
	case 'i':
	case 0: return false;
	default: return true;
	}
}

void fw_event_read(struct fw_lex *lex, struct fw_event *e)
{
	struct fw_lex_text key;
	bool is_first = true;

	e->phase = 0;
	e->category = FW_CAT_NONE;
	e->ts_state = e->dur_state = FW_NUMBER_ABSENT;
	e->has_name = e->has_counter = false;
	e->known = 0;
	e->name = e->pid = e->tid = (struct fw_lex_text){ "", 0, 0 };
	if (!fw_lex_expect(lex, '{'))
		return;
	for (; fw_lex_key(lex, is_first, &key); is_first = false) {
		read_field(lex, e, &key);
		/* Flows and spans of the profiler give no rows: what else they say is not read. */
		if (gives_nothing(e) && fw_lex_leave_object(lex))
			return;
	}
}

bool fw_event_starts(const char *p, const char *end)
{
	static const char *const keys[] = { "ph",  "name", "cat",  "ts", "pid",
					    "tid", "dur",  "args", "id" };

	if (p >= end || *p != '{')
		return false;
	p = fw_lex_skip_space(p + 1);
	if (p >= end || *p++ != '"')
		return false;
	for (size_t i = 0; i < COUNT(keys); i++) {
		size_t len = strlen(keys[i]);

		if ((size_t)(end - p) > len && !memcmp(p, keys[i], len) && p[len] == '"')
			return *fw_lex_skip_space(p + len + 1) == ':';
	}
	return false;
}
