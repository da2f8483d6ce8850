#ifndef FW_TESTS_OPENMETRICS_CHECK_H
#define FW_TESTS_OPENMETRICS_CHECK_H
/*
 * A strict reader of OpenMetrics 1.0 text, written from the standard's grammar and not from our
 * writer: metadata order and uniqueness, suffixes by type, unit at the name's end, escapes, one
 * sample a set of labels, buckets that ascend up to +Inf = count, and "# EOF" as the last line.
 */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPENMETRICS_LINES 4096

struct openmetrics_check {
	const char *text;
	char name[128], type[16], help_seen, unit_seen;
	char *seen[OPENMETRICS_LINES]; /* families and sample heads */
	size_t seen_count;
	double bucket, bucket_bound; /* of the series being read */
	bool has_inf;
	char error[256];
};

static bool openmetrics_fail(struct openmetrics_check *c, const char *why, const char *line)
{
	snprintf(c->error, sizeof(c->error), "%s: %.120s", why, line);
	return false;
}

static bool openmetrics_once(struct openmetrics_check *c, const char *thing, size_t len)
{
	for (size_t i = 0; i < c->seen_count; i++)
		if (strlen(c->seen[i]) == len && !memcmp(c->seen[i], thing, len))
			return false;
	if (c->seen_count == OPENMETRICS_LINES)
		return false;
	c->seen[c->seen_count++] = strndup(thing, len);
	return true;
}

static size_t openmetrics_name(const char *p)
{
	size_t n = 0;

	if (!isalpha((unsigned char)p[0]) && p[0] != '_' && p[0] != ':')
		return 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == ':')
		n++;
	return n;
}

/* "# TYPE name type", "# UNIT name unit", "# HELP name text": in any order, before samples, once. */
static bool openmetrics_metadata(struct openmetrics_check *c, const char *line)
{
	char key[5] = "", name[128] = "";
	int at = 0;

	if (sscanf(line, "# %4s %127[a-zA-Z0-9_:] %n", key, name, &at) != 2 || !at)
		return openmetrics_fail(c, "not metadata", line);
	if (!strcmp(key, "TYPE")) {
		if (!openmetrics_once(c, line, strlen(line)))
			return openmetrics_fail(c, "family twice", line);
		snprintf(c->name, sizeof(c->name), "%s", name);
		snprintf(c->type, sizeof(c->type), "%s", line + at);
		c->help_seen = c->unit_seen = 0;
		return !strcmp(c->type, "gauge") || !strcmp(c->type, "counter") ||
		       !strcmp(c->type, "histogram") || !strcmp(c->type, "info") ||
		       openmetrics_fail(c, "unknown type", line);
	}
	if (strcmp(name, c->name))
		return openmetrics_fail(c, "metadata of another family", line);
	if (!strcmp(key, "UNIT")) {
		size_t n = strlen(name), u = strlen(line + at);

		if (c->unit_seen++ || n <= u + 1 || strcmp(name + n - u, line + at) ||
		    name[n - u - 1] != '_' || !strcmp(c->type, "info"))
			return openmetrics_fail(c, "bad unit", line);
		return true;
	}
	if (!strcmp(key, "HELP") && !c->help_seen++)
		return true;
	return openmetrics_fail(c, "bad metadata", line);
}

/* A quoted value with only \\, \" and \n as escapes; returns behind the closing quote. */
static const char *openmetrics_quoted(const char *p)
{
	if (*p++ != '"')
		return NULL;
	for (; *p && *p != '"'; p++)
		if (*p == '\\' && !strchr("\\\"n", *++p))
			return NULL;
	return *p ? p + 1 : NULL;
}

static const char *openmetrics_labels(struct openmetrics_check *c, const char *p, double *bound)
{
	*bound = NAN;
	if (*p != '{')
		return p;
	do {
		size_t n = openmetrics_name(++p);

		if (!n || p[n] != '=')
			return NULL;
		if (n == 2 && !memcmp(p, "le", 2))
			*bound = strtod(p + 4, NULL);
		p = openmetrics_quoted(p + n + 1);
	} while (p && *p == ',');
	(void)c;
	return p && *p == '}' ? p + 1 : NULL;
}

static bool openmetrics_bucket(struct openmetrics_check *c, const char *line, double bound,
			       double value)
{
	if (isnan(bound))
		return openmetrics_fail(c, "bucket without le", line);
	if (!isnan(c->bucket_bound) && (bound <= c->bucket_bound || value < c->bucket))
		return openmetrics_fail(c, "buckets do not ascend", line);
	c->bucket_bound = bound;
	c->bucket = value;
	c->has_inf = isinf(bound);
	return true;
}

static bool openmetrics_suffix(struct openmetrics_check *c, const char *line, const char *suffix,
			       double bound, double value)
{
	if (!strcmp(c->type, "gauge"))
		return !*suffix || openmetrics_fail(c, "suffix of a gauge", line);
	if (!strcmp(c->type, "counter"))
		return (!strcmp(suffix, "_total") && value >= 0) ||
		       openmetrics_fail(c, "not a counter's sample", line);
	if (!strcmp(c->type, "info"))
		return (!strcmp(suffix, "_info") && value == 1) ||
		       openmetrics_fail(c, "not an info's sample", line);
	if (!strcmp(suffix, "_bucket"))
		return openmetrics_bucket(c, line, bound, value);
	if (!strcmp(suffix, "_count")) {
		bool agrees = c->has_inf && value == c->bucket;

		c->bucket_bound = NAN;
		return agrees || openmetrics_fail(c, "count is not the +Inf bucket", line);
	}
	return !strcmp(suffix, "_sum") || openmetrics_fail(c, "not a histogram's sample", line);
}

static bool openmetrics_sample(struct openmetrics_check *c, const char *line)
{
	size_t n = openmetrics_name(line), family = strlen(c->name);
	char suffix[16] = "", *end;
	const char *p;
	double bound, value;

	if (!n || n < family || memcmp(line, c->name, family) || n - family >= sizeof(suffix))
		return openmetrics_fail(c, "sample outside its family", line);
	memcpy(suffix, line + family, n - family);
	p = openmetrics_labels(c, line + n, &bound);
	if (!p || *p != ' ')
		return openmetrics_fail(c, "bad labels", line);
	if (!openmetrics_once(c, line, (size_t)(p - line)))
		return openmetrics_fail(c, "sample twice", line);
	value = strtod(p + 1, &end);
	if (end == p + 1 || *end)
		return openmetrics_fail(c, "bad number", line);
	return openmetrics_suffix(c, line, suffix, bound, value);
}

/* An empty string: the text is right; else what is wrong. */
static const char *openmetrics_check(struct openmetrics_check *c, const char *text)
{
	bool ended = false, fine = true;

	memset(c, 0, sizeof(*c));
	c->bucket_bound = NAN;
	while (*text && fine) {
		const char *end = strchr(text, '\n');
		char *line;

		if (!end || ended) {
			openmetrics_fail(c, ended ? "text after EOF" : "no newline", text);
			break;
		}
		line = strndup(text, (size_t)(end - text));
		if (!strcmp(line, "# EOF"))
			ended = true;
		else if (*line == '#')
			fine = openmetrics_metadata(c, line);
		else
			fine = openmetrics_sample(c, line);
		free(line);
		text = end + 1;
	}
	if (!ended && !c->error[0])
		openmetrics_fail(c, "no EOF", "");
	while (c->seen_count)
		free(c->seen[--c->seen_count]);
	return c->error;
}

#endif
