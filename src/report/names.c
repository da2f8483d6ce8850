/* Kernel names for reading: what C++ adds around the name that its author gave is left out. */
#include "report/names.h"

#include <stdbool.h>
#include <string.h>

#include "base/demangle.h"

#define MAX_DEPTH 64 /* of template arguments; deeper names stay as they are */

struct shortener {
	const char *at; /* what is left to read */
	char *out;
	size_t len;
	size_t chain[MAX_DEPTH]; /* for each depth: where in out the qualified name begins */
	unsigned depth;
	bool failed;
};

/* The end of the bracketed group that text starts with; NULL: it never closes. */
static const char *group_end(const char *text)
{
	unsigned depth = 0;

	for (; *text; text++) {
		if (strchr("([{", *text))
			depth++;
		else if (strchr(")]}", *text) && !--depth)
			return text + 1;
	}
	return NULL;
}

static void skip_group(struct shortener *s)
{
	const char *end = group_end(s->at);

	s->failed = !end;
	if (end)
		s->at = end;
}

/* Skips a component such as {lambda(int)#1} or operator()() const, up to what follows it. */
static void skip_component(struct shortener *s)
{
	while (*s->at && *s->at != ',' && *s->at != '>' && strncmp(s->at, "::", 2) != 0 &&
	       !s->failed) {
		if (strchr("([{", *s->at))
			skip_group(s);
		else
			s->at++;
	}
}

static void put(struct shortener *s, char c)
{
	s->out[s->len++] = c;
}

static void begin_chain(struct shortener *s)
{
	s->chain[s->depth] = s->len;
}

static void take_scope(struct shortener *s)
{
	s->at += 2;
	if (*s->at == '{' || !strncmp(s->at, "operator()", 10))
		skip_component(s);
	else
		s->len = s->chain[s->depth];
}

static void open_arguments(struct shortener *s)
{
	put(s, *s->at++);
	if (++s->depth == MAX_DEPTH) {
		s->failed = true;
		return;
	}
	begin_chain(s);
}

static void close_arguments(struct shortener *s)
{
	if (!s->depth) {
		s->failed = true;
		return;
	}
	s->depth--;
	while (s->len && s->out[s->len - 1] == ' ')
		s->len--;
	put(s, *s->at++);
}

static void take_next(struct shortener *s)
{
	char c = *s->at;

	if (c == ':' && s->at[1] == ':') {
		take_scope(s);
	} else if (c == '<') {
		open_arguments(s);
	} else if (c == '>') {
		close_arguments(s);
	} else if (strchr("([{", c)) {
		skip_group(s);
	} else {
		put(s, c);
		s->at++;
		if (strchr(" ,&*", c))
			begin_chain(s);
	}
}

/* Where the parameter list begins; the end of the name if it has none. */
static const char *find_parameters(const char *name)
{
	const char *p = name, *last = NULL;

	/* The last group at the outermost level that begins behind a letter, digit or '>'. */
	for (unsigned depth = 0; *p; p++) {
		if (*p == '(' && !depth && p > name && !strchr(" :(<,", p[-1]))
			last = p;
		if (strchr("([{<", *p))
			depth++;
		else if (strchr(")]}>", *p) && depth)
			depth--;
	}
	return last ? last : p;
}

/* Where the name begins: behind the return type, the last blank outside brackets before end. */
static const char *find_name(const char *name, const char *end)
{
	const char *start = name;
	unsigned depth = 0;

	for (const char *p = name; p < end; p++) {
		if (strchr("([{<", *p))
			depth++;
		else if (strchr(")]}>", *p) && depth)
			depth--;
		else if (*p == ' ' && !depth)
			start = p + 1;
	}
	return start;
}

const char *fw_short_name(struct fw_arena *arena, const char *name)
{
	const char *full = fw_demangle(arena, name), *end;
	struct shortener s = { 0 };
	char *text;

	if (!strpbrk(full, ":<("))
		return full;
	end = find_parameters(full);
	s.at = find_name(full, end);
	text = fw_arena_strndup(arena, s.at, (size_t)(end - s.at));
	s.out = fw_arena_alloc(arena, strlen(full) + 1);
	if (!text || !s.out)
		return full;
	s.at = text;
	while (*s.at && !s.failed)
		take_next(&s);
	s.out[s.len] = '\0';
	return s.failed || s.depth || !s.len ? full : s.out;
}
