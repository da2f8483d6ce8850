#include "import/kineto.h"

#include <stdlib.h>
#include <string.h>

/* Text that is held at once; a record that is longer makes it grow, up to the second figure. */
#define WINDOW_BYTES (256u << 10)
#define RECORD_BYTES (32u << 20)

/*
 * Times of files without a base: from here on they count from 1970 (this is September 2001), below
 * from some other zero, such as the machine's start.
 */
#define EPOCH_TIMES_NS INT64_C(1000000000000000000)

/* More than what tells where an event starts: a brace, a key, white space. */
#define SEAM_BYTES 256u

void fw_kineto_flaw(struct fw_kineto *k, uint64_t *count, uint64_t offset)
{
	struct fw_integrity *flaws = &k->trace->integrity;

	++*count;
	if (offset < k->first_flaw_offset)
		k->first_flaw_offset = offset;
	if (offset < flaws->first_flaw_offset)
		flaws->first_flaw_offset = offset;
}

static uint64_t here(const struct fw_kineto *k)
{
	return k->offset + k->at;
}

/* The file ends early: said once. */
static void note_end(struct fw_kineto *k, uint64_t offset)
{
	if (!k->is_cut)
		fw_kineto_flaw(k, &k->trace->integrity.truncated, offset);
	k->is_cut = true;
}

static void report_progress(const struct fw_kineto *k)
{
	if (k->options && k->options->progress)
		k->options->progress(k->options->user, fw_source_position(k->source),
				     fw_source_size(k->source));
}

/* Drops what was read, and makes room where the text in hand fills the buffer. */
static fw_status make_room(struct fw_kineto *k, struct fw_error *err)
{
	size_t cap = k->cap;
	char *bigger;

	memmove(k->buffer, k->buffer + k->at, k->len - k->at);
	k->offset += k->at;
	k->len -= k->at;
	k->at = 0;
	if (k->len < cap / 2 || cap >= RECORD_BYTES)
		return FW_OK;
	bigger = realloc(k->buffer, cap * 2 + FW_LEX_PADDING);
	if (!bigger)
		return fw_fail_nomem(err, cap * 2);
	k->buffer = bigger;
	k->cap = cap * 2;
	return FW_OK;
}

/*
 * More text behind what is in hand, or the news that this was all: *grew. It is false once the end
 * was known, and when a record fills the largest window.
 */
static fw_status refill(struct fw_kineto *k, bool *grew, struct fw_error *err)
{
	fw_status status;

	*grew = false;
	if (k->at_end)
		return FW_OK;
	status = make_room(k, err);
	/* Always full, so that a long record is begun again only once a doubling. */
	while (!status && k->len < k->cap && !k->at_end) {
		size_t got;

		status = fw_source_read(k->source, k->buffer + k->len, k->cap - k->len, &got, err);
		k->len += got;
		k->at_end = !got;
		*grew = true;
	}
	memset(k->buffer + k->len, 0, FW_LEX_PADDING);
	report_progress(k);
	return status;
}

/* Hostile text makes the reader look at the same bytes again and again: so much of that, and no more. */
static bool is_too_dear(const struct fw_kineto *k)
{
	return k->reread_bytes > 16 * (k->offset + k->len) + RECORD_BYTES;
}

static struct fw_lex lex_here(const struct fw_kineto *k)
{
	return (struct fw_lex){ .p = k->buffer + k->at,
				.end = k->buffer + k->len,
				.is_final = k->at_end,
				.is_careful = is_too_dear(k) };
}

static size_t position_of(const struct fw_kineto *k, const char *p)
{
	return (size_t)(p - k->buffer);
}

/* The next byte that is no white space, not taken; 0 at the end of the file. */
static fw_status next_byte(struct fw_kineto *k, char *byte, struct fw_error *err)
{
	for (;;) {
		struct fw_lex lex = lex_here(k);
		bool grew;
		fw_status status;

		*byte = fw_lex_peek(&lex);
		k->at = position_of(k, lex.p);
		if (fw_lex_ok(&lex))
			return FW_OK;
		status = refill(k, &grew, err);
		if (status || !grew)
			return status;
	}
}

/* Keys that stand beside the events, never inside of one. */
static bool is_header_key(const struct fw_lex_text *key)
{
	static const char *const keys[] = { "traceName",           "displayTimeUnit",
					    "baseTimeNanoseconds", "distributedInfo",
					    "schemaVersion",       "deviceProperties",
					    "record_shapes",       "with_stack",
					    "profile_memory",      "otherData" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (key->len == strlen(keys[i]) && !memcmp(key->p, keys[i], key->len))
			return true;
	return false;
}

/*
 * True if the array of events ends at the bracket p: behind it, and the brace of what the array is in,
 * the file ends; or a key follows that Kineto writes there. Inside of events brackets have braces
 * behind them too.
 */
static bool events_end(const struct fw_kineto *k, const char *p)
{
	struct fw_lex lex = { .p = p + 1, .end = k->buffer + k->len };
	struct fw_lex_text key;
	char c = fw_lex_peek(&lex);

	if (k->is_bare || c == '}')
		return k->at_end && fw_lex_skip_space(lex.p + (c == '}')) >= lex.end;
	return c == ',' && fw_lex_key(&lex, false, &key) && is_header_key(&key);
}

/* Looks at a place in the window. */
typedef bool (*place_test)(const struct fw_kineto *k, const char *p);

/* The last byte before p that is no white space; 0: none in the window. */
static char byte_before(const char *start, const char *p)
{
	while (p > start && (unsigned char)p[-1] <= ' ')
		p--;
	return p > start ? p[-1] : 0;
}

/* The first place in the window from `from` on that `is_it` accepts, or the window's end. */
static size_t find(const struct fw_kineto *k, size_t from, place_test is_it)
{
	while (from < k->len && !is_it(k, k->buffer + from))
		from++;
	return from;
}

/* True where an event starts or the events end. */
static bool is_record_edge(const struct fw_kineto *k, const char *p)
{
	if (*p == '{')
		return strchr(",[}", byte_before(k->buffer, p)) &&
		       fw_event_starts(p, k->buffer + k->len);
	return *p == ']' && events_end(k, p);
}

/*
 * After damage: on to the next place, `from` bytes behind the cursor or later, where reading can go
 * on. *found is false, and the cursor at the file's end, if there is none.
 */
static fw_status seek(struct fw_kineto *k, size_t from, place_test is_it, bool *found,
		      struct fw_error *err)
{
	from += k->at;
	for (;;) {
		bool grew;
		fw_status status;

		from = find(k, from, is_it);
		*found = from < k->len;
		if (*found) {
			k->at = from;
			return FW_OK;
		}
		/* The window's end may cut the few bytes that decide, and some before tell more. */
		if (from - k->at > 2 * SEAM_BYTES)
			k->at = from - 2 * SEAM_BYTES;
		from -= k->at;
		from = from > SEAM_BYTES ? from - SEAM_BYTES : 1;
		status = refill(k, &grew, err);
		if (status || !grew) {
			k->at = k->len;
			return status;
		}
	}
}

/* True at the end of an array behind which nothing else starts. */
static bool is_last_bracket(const struct fw_kineto *k)
{
	const char *p = k->buffer + k->at;

	return *p == ']' && *fw_lex_skip_space(p + 1) != ',';
}

/*
 * Skips the record at the cursor, of which `seen` bytes were looked at. The search goes over those
 * again, since another record may start among them, unless hostile text makes that too dear.
 */
static fw_status skip_damage(struct fw_kineto *k, size_t seen, bool is_cut, struct fw_error *err)
{
	uint64_t offset = here(k);
	bool found;
	fw_status status;

	k->is_shaken = true;
	k->reread_bytes += seen;
	if (!is_too_dear(k))
		seen = 0;
	status = seek(k, seen ? seen : 1, is_record_edge, &found, err);
	/* Brackets and braces before the end of a sound record that is cut are the record's own. */
	if (is_cut && (!found || is_last_bracket(k)))
		note_end(k, offset);
	else
		fw_kineto_flaw(k, &k->trace->integrity.bad_records, offset);
	return status;
}

/*
 * Reads the event at the cursor, leniently if it has quotes inside its strings. The state says
 * whether it is whole, cut by the window's end, or damaged; *behind where the cursor goes on.
 */
static enum fw_lex_state lex_event(struct fw_kineto *k, struct fw_event *event, size_t *behind)
{
	struct fw_lex lex = lex_here(k);

	fw_event_read(&lex, event);
	k->reread_bytes += lex.wasted;
	if (lex.state == FW_LEX_BAD) {
		lex = lex_here(k);
		lex.is_lenient = true;
		fw_event_read(&lex, event);
	}
	*behind = position_of(k, lex.p);
	/* A damaged string that finds no end is damage; only what was sound so far can be cut. */
	if (lex.is_lenient && lex.state == FW_LEX_MORE && k->at_end)
		return FW_LEX_BAD;
	return lex.state;
}

static fw_status read_event(struct fw_kineto *k, struct fw_error *err)
{
	for (;;) {
		struct fw_event event;
		size_t behind;
		bool grew = false;
		enum fw_lex_state state = lex_event(k, &event, &behind);

		if (state == FW_LEX_MORE) {
			fw_status status = refill(k, &grew, err);

			if (status)
				return status;
			if (grew)
				continue;
		}
		if (state != FW_LEX_OK)
			return skip_damage(k, behind - k->at, state == FW_LEX_MORE && k->at_end,
					   err);
		fw_kineto_add(k, &event, here(k));
		k->at = behind;
		return FW_OK;
	}
}

static fw_status fail_growth(const struct fw_kineto *k, struct fw_error *err)
{
	fw_status status = fw_trace_fail_growth(k->trace, err);

	fw_error_prefix(err, "%s: at offset %llu", fw_source_name(k->source),
			(unsigned long long)here(k));
	return status;
}

/* What stands between two events, where it lies in the window: the rest is next_byte's. */
static void step_over_comma(struct fw_kineto *k)
{
	const char *p = fw_lex_skip_space(k->buffer + k->at);

	if (*p == ',')
		k->at = position_of(k, fw_lex_skip_space(p + 1));
}

/*
 * At a bracket between events. After damage reading may go on inside of a record, whose brackets are
 * not the array's: what stands behind tells.
 */
static fw_status end_events(struct fw_kineto *k, bool *is_end, struct fw_error *err)
{
	bool grew = true;

	while (k->is_shaken && k->len - k->at < SEAM_BYTES && grew) {
		fw_status status = refill(k, &grew, err);

		if (status)
			return status;
	}
	*is_end = !k->is_shaken || events_end(k, k->buffer + k->at);
	if (!*is_end)
		return skip_damage(k, 0, false, err);
	k->at++;
	return FW_OK;
}

/* The array of events, behind its bracket. */
static fw_status read_events(struct fw_kineto *k, struct fw_error *err)
{
	bool is_end = false;

	k->is_shaken = false;
	for (;;) {
		char c;
		fw_status status;

		step_over_comma(k);
		status = next_byte(k, &c, err);
		if (status)
			return status;
		if (!c && k->at == k->len) {
			note_end(k, here(k));
			return FW_OK;
		}
		if (c == ']')
			status = end_events(k, &is_end, err);
		else if (c == ',')
			k->at++;
		else if (c == '{')
			status = read_event(k, err);
		else
			status = skip_damage(k, 0, false, err);
		if (status || is_end)
			return status;
		if (k->is_out_of_memory)
			return fail_growth(k, err);
	}
}

static bool is_events_key(const struct fw_lex_text *key)
{
	return key->len == 11 && !memcmp(key->p, "traceEvents", 11);
}

static bool is_events_array(const struct fw_kineto *k, const char *p)
{
	struct fw_lex lex = { .p = p, .end = k->buffer + k->len };
	struct fw_lex_text key;

	return *p == '"' && fw_lex_key(&lex, true, &key) && is_events_key(&key) &&
	       fw_lex_peek(&lex) == '[';
}

/* The header is damaged, by metadata that the user wrote: the events may still be whole. */
static fw_status mend_header(struct fw_kineto *k, bool *more, struct fw_error *err)
{
	uint64_t offset = here(k);
	fw_status status = FW_OK;

	*more = false;
	if (!k->has_seen_events)
		status = seek(k, 1, is_events_array, more, err);
	fw_kineto_flaw(k, &k->trace->integrity.bad_records, offset);
	return status;
}

enum key_kind { KEY_NONE, KEY_HEADER, KEY_EVENTS };

/* A key of the outermost object with its value; of traceEvents up to the array's bracket. */
static enum key_kind lex_key(struct fw_kineto *k, struct fw_lex *lex, bool is_first)
{
	struct fw_lex_text key;

	if (!fw_lex_key(lex, is_first, &key))
		return KEY_NONE;
	if (is_events_key(&key) && fw_lex_peek(lex) == '[') {
		lex->p++;
		return KEY_EVENTS;
	}
	fw_kineto_read_header(k, lex, &key);
	return KEY_HEADER;
}

static fw_status read_key(struct fw_kineto *k, bool is_first, enum key_kind *kind,
			  struct fw_error *err)
{
	for (;;) {
		struct fw_integrity flaws = k->trace->integrity;
		uint64_t first_flaw_offset = k->first_flaw_offset;
		struct fw_lex lex = lex_here(k);
		bool goes_on = false;
		fw_status status;

		/* Here users write what they like, and it is little: read closely. */
		lex.is_careful = true;
		*kind = lex_key(k, &lex, is_first);
		if (fw_lex_ok(&lex)) {
			k->at = position_of(k, lex.p);
			return FW_OK;
		}
		*kind = KEY_NONE;
		/* What was not read to its end is read again, or not at all. */
		k->trace->integrity = flaws;
		k->first_flaw_offset = first_flaw_offset;
		if (lex.state == FW_LEX_MORE) {
			status = refill(k, &goes_on, err);
			if (status)
				return status;
			if (goes_on)
				continue;
		}
		if (lex.state == FW_LEX_MORE && k->at_end) {
			note_end(k, here(k));
			return FW_OK;
		}
		is_first = true;
		status = mend_header(k, &goes_on, err);
		if (status || !goes_on)
			return status;
	}
}

static fw_status read_document(struct fw_kineto *k, struct fw_error *err)
{
	enum key_kind kind = KEY_HEADER;

	for (bool is_first = true; kind != KEY_NONE; is_first = false) {
		fw_status status = read_key(k, is_first, &kind, err);

		if (!status && kind == KEY_EVENTS) {
			k->has_seen_events = true;
			status = read_events(k, err);
		}
		if (status)
			return status;
	}
	return FW_OK;
}

/* The array of events without a document around it, behind its bracket. */
static fw_status read_bare(struct fw_kineto *k, struct fw_error *err)
{
	char c;
	fw_status status = next_byte(k, &c, err);

	k->has_seen_events = k->is_bare = true;
	k->is_list = c != '{' && c != ']' && k->at < k->len;
	return status ? status : read_events(k, err);
}

static fw_status read_text(struct fw_kineto *k, struct fw_error *err)
{
	const char *name = fw_source_name(k->source);
	char c;
	fw_status status = next_byte(k, &c, err);

	if (status)
		return status;
	/* A byte order mark says nothing in UTF-8. */
	if (k->len >= 3 && !k->at && !memcmp(k->buffer, "\xef\xbb\xbf", 3)) {
		k->at = 3;
		status = next_byte(k, &c, err);
		if (status)
			return status;
	}
	if (!k->len && fw_source_damage(k->source) == FW_SOURCE_WHOLE)
		return fw_fail(err, FW_ERR_FORMAT, "%s: the file is empty", name);
	if (!k->len)
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: the compressed data is damaged at its start", name);
	if (k->at == k->len)
		return fw_fail(err, FW_ERR_FORMAT, "%s: the file has nothing but white space",
			       name);
	if (c != '{' && c != '[')
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: not JSON: byte 0x%02x at offset %llu, expected '{' or '['",
			       name, (unsigned char)c, (unsigned long long)here(k));
	k->at++;
	if (c == '{')
		return read_document(k, err);
	return read_bare(k, err);
}

/* What stands behind the document is of no use, but only at the end is it known to be undamaged. */
static fw_status drain(struct fw_kineto *k, struct fw_error *err)
{
	fw_status status = FW_OK;

	while (!status && !k->at_end) {
		bool grew;

		k->at = k->len;
		status = refill(k, &grew, err);
	}
	return status;
}

static fw_status refuse_unusable(const struct fw_kineto *k, struct fw_error *err)
{
	const struct fw_integrity *flaws = &k->trace->integrity;
	const char *name = fw_source_name(k->source);

	if (fw_source_damage(k->source) == FW_SOURCE_CORRUPT)
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: the compressed data is damaged before the first whole event, "
			       "after %llu unpacked bytes",
			       name, (unsigned long long)(k->offset + k->len));
	if (flaws->bad_records > k->flaws_before.bad_records)
		return fw_fail(
			err, FW_ERR_FORMAT,
			"%s: no whole event: %llu damaged, the first at offset %llu", name,
			(unsigned long long)(flaws->bad_records - k->flaws_before.bad_records),
			(unsigned long long)k->first_flaw_offset);
	if (k->is_cut)
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: the file ends at offset %llu, before the first whole event",
			       name, (unsigned long long)(k->offset + k->len));
	return fw_fail(err, FW_ERR_FORMAT, "%s: no traceEvents in this JSON file", name);
}

/* Whether this is Kineto's, and whether there is anything to go on with. */
static fw_status judge(const struct fw_kineto *k, struct fw_error *err)
{
	const char *name = fw_source_name(k->source);
	const struct fw_integrity *flaws = &k->trace->integrity;
	bool is_whole = flaws->bad_records == k->flaws_before.bad_records && !k->is_cut &&
			fw_source_damage(k->source) == FW_SOURCE_WHOLE;

	if (k->kineto_events ||
	    (k->has_header && k->has_seen_events && (k->has_events || is_whole)))
		return FW_OK;
	if (k->is_execution_trace)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: a PyTorch execution trace (ExecutionTraceObserver): it has no "
			       "times of the GPU; pass the profiler's trace instead",
			       name);
	if (k->has_events)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: a Chrome trace, but not of PyTorch's profiler: no event of "
			       "category kernel, cuda_runtime, cpu_op, ...",
			       name);
	if (k->is_list)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: a JSON array, but not of events, such as a memory timeline of "
			       "PyTorch: it has no times of the GPU; pass the profiler's trace "
			       "instead",
			       name);
	return refuse_unusable(k, err);
}

static void finish(struct fw_kineto *k)
{
	struct fw_trace_files *files = &k->trace->files;
	struct fw_integrity *flaws = &k->trace->integrity;

	if (fw_source_damage(k->source) == FW_SOURCE_CORRUPT)
		fw_kineto_flaw(k, &flaws->bad_compression, k->offset + k->len);
	else if (fw_source_damage(k->source) == FW_SOURCE_CUT)
		note_end(k, k->offset + k->len);
	fw_kineto_drop_unfilled(k);
	fw_kineto_name_threads(k);
	fw_kineto_name_devices(k);
	if (k->has_base)
		files->epoch_ns[k->file] = k->base_ns;
	else if (k->earliest_ns >= EPOCH_TIMES_NS && k->earliest_ns != INT64_MAX)
		files->epoch_ns[k->file] = 0;
}

fw_status fw_kineto_import(struct fw_source *source, const struct fw_import_options *options,
			   uint32_t file, struct fw_trace *trace, struct fw_error *err)
{
	struct fw_kineto *k = calloc(1, sizeof(*k));
	fw_status status;

	if (!k)
		return fw_fail_nomem(err, sizeof(*k));
	k->trace = trace;
	k->file = file;
	k->options = options;
	k->source = source;
	k->flaws_before = trace->integrity;
	k->first_flaw_offset = UINT64_MAX;
	k->earliest_ns = INT64_MAX;
	k->first_op = trace->ops.len;
	k->first_call = trace->calls.len;
	k->first_range = trace->ranges.len;
	k->gpus = (struct fw_vec)FW_VEC(struct fw_kineto_gpu);
	k->labels = (struct fw_vec)FW_VEC(struct fw_kineto_label);
	k->names = (struct fw_vec)FW_VEC(struct fw_name_facts);
	k->cap = options && options->window_bytes ? options->window_bytes : WINDOW_BYTES;
	k->buffer = calloc(1, k->cap + FW_LEX_PADDING);
	status = k->buffer ? read_text(k, err) : fw_fail_nomem(err, k->cap);
	if (!status)
		status = drain(k, err);
	if (!status)
		status = judge(k, err);
	if (!status)
		finish(k);
	if (!status && k->is_out_of_memory)
		status = fail_growth(k, err);
	free(k->buffer);
	fw_vec_release(&k->gpus);
	fw_vec_release(&k->labels);
	fw_vec_release(&k->names);
	fw_str_release(&k->scratch);
	free(k);
	return status;
}
