/* Blanks comments, literals and directives out of C++ source. Raw string literals are read as plain ones. */
#include "tune/source_code.h"

#include <string.h>

enum inside { CODE, LINE_COMMENT, BLOCK_COMMENT, STRING, CHARACTER };

static bool is_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* What begins at p in plain code; a quote between digits is a separator (1'000). */
static enum inside begins(const char *text, const char *p)
{
	if (p[0] == '/' && p[1] == '/')
		return LINE_COMMENT;
	if (p[0] == '/' && p[1] == '*')
		return BLOCK_COMMENT;
	if (*p == '"')
		return STRING;
	if (*p == '\'' && (p == text || !is_word(p[-1])))
		return CHARACTER;
	return CODE;
}

/* Blanks from p to the end of what inside says; returns the first character behind it. */
static char *blank(char *p, enum inside inside)
{
	char quote = inside == STRING ? '"' : '\'';
	bool is_comment = inside == LINE_COMMENT || inside == BLOCK_COMMENT;

	if (is_comment)
		p[0] = p[1] = ' ';
	for (p += is_comment ? 2 : 1; *p; p++) {
		bool is_escape = *p == '\\' && p[1];

		if (inside == BLOCK_COMMENT && p[0] == '*' && p[1] == '/') {
			p[0] = p[1] = ' ';
			return p + 2;
		}
		if (!is_comment && *p == quote)
			return p + 1;
		if (*p == '\n' && inside != BLOCK_COMMENT)
			return p;
		if (*p != '\n')
			*p = ' ';
		if (is_escape && inside != BLOCK_COMMENT) {
			p++;
			if (*p != '\n')
				*p = ' ';
		}
	}
	return p;
}

static void blank_directives(char *code)
{
	bool is_start = true;

	for (char *p = code; *p; p++) {
		if (is_start && *p == '#') {
			for (; *p && *p != '\n'; p++) {
				bool continues = p[0] == '\\' && p[1] == '\n';

				*p = ' ';
				p += continues;
			}
			if (!*p)
				return;
		}
		if (*p == '\n')
			is_start = true;
		else if (*p != ' ' && *p != '\t' && *p != '\r')
			is_start = false;
	}
}

char *fw_tune_source_code(struct fw_arena *arena, const char *text, size_t bytes,
			  bool no_directives)
{
	char *code = fw_arena_strndup(arena, text, bytes);

	if (!code)
		return NULL;
	for (char *p = code; *p;) {
		enum inside inside = begins(code, p);

		p = inside == CODE ? p + 1 : blank(p, inside);
	}
	if (no_directives)
		blank_directives(code);
	return code;
}

bool fw_tune_source_mentions(const char *code, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = code; (p = strstr(p, name)); p += len)
		if ((p == code || !is_word(p[-1])) && !is_word(p[len]))
			return true;
	return false;
}

bool fw_tune_source_has_own_includes(const char *code)
{
	for (const char *p = code; (p = strstr(p, "include")); p++) {
		const char *q = p + strlen("include");

		while (*q == ' ' || *q == '\t')
			q++;
		if (*q == '"')
			return true;
	}
	return false;
}
