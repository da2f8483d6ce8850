#include "tune/cache_line.h"

#include "base/json_writer.h"
#include "base/map.h"
#include "tune/json.h"
#include "tune/race.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	return fw_hash_u64(hash * 31 ^ fw_hash_bytes(bytes, len));
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return text ? mix(hash, text, strlen(text)) : fw_hash_u64(hash + 1);
}

uint64_t fw_tune_conditions_hash(const struct fw_tune_conditions *c)
{
	uint64_t hash = mix_text(VERSION, c->gpu);

	hash = mix_text(hash, c->uuid);
	hash = fw_hash_u64(hash ^ c->cc);
	hash = fw_hash_u64(hash ^ c->driver);
	hash = mix_text(hash, c->nvrtc);
	hash = mix_text(hash, c->l2);
	hash = mix_text(hash, c->kernel);
	hash = fw_hash_u64(hash ^ c->source);
	return fw_hash_u64(hash ^ c->spec);
}

/* Lines of ours hold parameters and values, which may grow: the rest of the source counts. */
static uint64_t source_hash(const struct fw_tune_spec *spec)
{
	const char *p = spec->source, *end = p + spec->source_bytes;
	uint64_t hash = 1;

	while (p < end) {
		const char *line = p, *newline = memchr(p, '\n', (size_t)(end - p));

		p = newline ? newline + 1 : end;
		while (line < p && (*line == ' ' || *line == '\t'))
			line++;
		if ((size_t)(p - line) > 2 && !memcmp(line, "//", 2)) {
			const char *word = line + 2;

			while (word < p && *word == ' ')
				word++;
			if ((size_t)(p - word) >= 9 && !memcmp(word, "fullwarp:", 9))
				continue;
		}
		hash = mix(hash, line, (size_t)(p - line));
	}
	return hash;
}

static uint64_t mix_arg(uint64_t hash, const struct fw_tune_arg *arg)
{
	const double numbers[] = { arg->real, arg->low, arg->high, arg->rel, arg->abs };
	const int kinds[] = { arg->is_scalar, (int)arg->type, (int)arg->fill, arg->is_output,
			      arg->is_inout };

	hash = mix_text(hash, arg->name);
	hash = mix(hash, kinds, sizeof(kinds));
	hash = mix(hash, numbers, sizeof(numbers));
	for (uint32_t i = 0; i < arg->n_dims && i < FW_TUNE_MAX_DIMS; i++)
		hash = mix_text(hash, arg->dims[i].text);
	hash = mix_text(hash, arg->scalar.text);
	return mix_text(hash, arg->path);
}

static uint64_t spec_hash(const struct fw_tune_spec *spec)
{
	uint64_t hash = 2;

	for (uint32_t i = 0; i < spec->n_sets; i++) {
		hash = mix_text(hash, spec->sets[i].name);
		hash = fw_hash_u64(hash ^ (uint64_t)spec->sets[i].number);
	}
	for (int i = 0; i < 3; i++) {
		hash = mix_text(hash, spec->grid[i].text);
		hash = mix_text(hash, spec->block[i].text);
	}
	hash = mix_text(hash, spec->dynamic_smem.text);
	for (uint32_t i = 0; i < spec->n_args; i++)
		hash = mix_arg(hash, &spec->args[i]);
	for (uint32_t i = 0; i < spec->n_flags; i++)
		hash = mix_text(hash, spec->flags[i]);
	return mix_text(hash, spec->reference);
}

void fw_tune_conditions_of_spec(const struct fw_tune_spec *spec,
				struct fw_tune_conditions *conditions)
{
	snprintf(conditions->kernel, sizeof(conditions->kernel), "%s", spec->kernel);
	conditions->source = source_hash(spec);
	conditions->spec = spec_hash(spec);
}

static void put_hash(struct fw_json *json, const char *key, uint64_t hash)
{
	char text[20];

	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	fw_json_string(json, key, text);
}

void fw_tune_cache_put_header(struct fw_str *out, const struct fw_tune_conditions *c,
			      const struct fw_tune_space *space)
{
	struct fw_json json = { .out = out };

	fw_json_begin_object(&json, NULL);
	fw_json_int(&json, "fullwarp_tune", VERSION);
	put_hash(&json, "conditions", fw_tune_conditions_hash(c));
	fw_json_string(&json, "kernel", c->kernel);
	fw_json_string(&json, "gpu", c->gpu);
	fw_json_string(&json, "uuid", c->uuid);
	fw_json_uint(&json, "cc", c->cc);
	fw_json_uint(&json, "driver", c->driver);
	fw_json_string(&json, "nvrtc", c->nvrtc);
	fw_json_string(&json, "l2", c->l2);
	put_hash(&json, "source", c->source);
	put_hash(&json, "spec", c->spec);
	fw_json_begin_object(&json, "default");
	for (uint32_t p = 0; p < space->n_params; p++)
		fw_json_string(&json, space->params[p].name,
			       space->params[p].values[space->params[p].preset].text);
	fw_json_end_object(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}

static void put_attributes(struct fw_json *json, const struct fw_tune_result *r)
{
	fw_json_uint(json, "registers", r->registers);
	fw_json_uint(json, "static_smem", r->static_smem);
	fw_json_uint(json, "dynamic_smem", r->dynamic_smem);
	fw_json_uint(json, "spill_bytes", r->spill_bytes);
	fw_json_uint(json, "max_threads", r->max_threads);
}

void fw_tune_cache_put_result(struct fw_str *out, uint64_t conditions,
			      const struct fw_tune_space *space, const struct fw_tune_result *r)
{
	struct fw_json json = { .out = out };

	fw_json_begin_object(&json, NULL);
	put_hash(&json, "conditions", conditions);
	fw_json_begin_object(&json, "config");
	for (uint32_t p = 0; p < space->n_params; p++)
		fw_json_string(&json, space->params[p].name,
			       space->params[p].values[r->config.value[p]].text);
	fw_json_end_object(&json);
	fw_json_string(&json, "status", fw_tune_status_name(r->status));
	if (r->reason[0])
		fw_json_string(&json, "reason", r->reason);
	if (r->has_attributes)
		put_attributes(&json, r);
	if (r->occupancy >= 0) {
		fw_json_double(&json, "occupancy", r->occupancy);
		fw_json_uint(&json, "limiters", r->limiters);
	}
	put_hash(&json, "code", r->cubin_hash);
	fw_json_begin_array(&json, "samples_s");
	for (uint32_t i = 0; i < r->n_samples && i < FW_TUNE_MAX_SAMPLES; i++)
		fw_json_double(&json, NULL, r->samples_s[i]);
	fw_json_end_array(&json);
	if (r->sm_clock_mhz)
		fw_json_uint(&json, "sm_clock_mhz", r->sm_clock_mhz);
	fw_json_uint(&json, "discarded", r->discarded);
	fw_json_uint(&json, "unsteady", r->unsteady);
	fw_json_double(&json, "compile_s", r->compile_s);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}

static bool read_hash(struct fw_tune_json *json, uint64_t *hash)
{
	char text[17], *end;

	if (!fw_tune_json_text(json, text, sizeof(text)) || strlen(text) != 16)
		return false;
	*hash = strtoull(text, &end, 16);
	return !*end && text[0] != '-' && text[0] != '+' && text[0] != ' ';
}

static bool read_u32(struct fw_tune_json *json, uint32_t *number)
{
	uint64_t count;

	if (!fw_tune_json_count(json, UINT32_MAX, &count))
		return false;
	*number = (uint32_t)count;
	return true;
}

/* What the object holds so far. */
struct parts {
	unsigned version;
	bool has_conditions, has_config, is_foreign, has_status, has_attributes;
};

static bool find_value(const struct fw_tune_param *param, const char *text, uint16_t *value)
{
	for (uint32_t v = 0; v < param->n_values; v++) {
		if (!strcmp(param->values[v].text, text)) {
			*value = (uint16_t)v;
			return true;
		}
	}
	return false;
}

/* The parameter that has this name and value, or -1. */
static int find_param(const struct fw_tune_space *space, const char *name, const char *text,
		      uint16_t *value)
{
	for (uint32_t p = 0; p < space->n_params; p++)
		if (!strcmp(space->params[p].name, name))
			return find_value(&space->params[p], text, value) ? (int)p : -1;
	return -1;
}

/* Every parameter of the space once, and no other; else it is foreign. */
static void read_config(struct fw_tune_json *json, const struct fw_tune_space *space,
			struct fw_tune_config *config, struct parts *parts)
{
	char name[256], text[1024];
	uint32_t seen = 0;

	if (!fw_tune_json_enter(json, '{')) {
		fw_tune_json_skip(json);
		return;
	}
	parts->has_config = true;
	while (fw_tune_json_key(json, name, sizeof(name))) {
		uint16_t value = 0;
		bool is_whole = fw_tune_json_text(json, text, sizeof(text));
		int p = is_whole ? find_param(space, name, text, &value) : -1;

		if (p < 0 || (seen >> p & 1)) {
			parts->is_foreign = true;
			continue;
		}
		seen |= UINT32_C(1) << p;
		config->value[p] = value;
	}
	parts->is_foreign = parts->is_foreign || seen != (UINT32_C(1) << space->n_params) - 1;
}

static bool read_status(struct fw_tune_json *json, enum fw_tune_status *status)
{
	char text[32];

	if (!fw_tune_json_text(json, text, sizeof(text)))
		return false;
	for (int s = FW_TUNE_OK; s <= FW_TUNE_HUNG; s++) {
		if (!strcmp(text, fw_tune_status_name((enum fw_tune_status)s))) {
			*status = (enum fw_tune_status)s;
			return true;
		}
	}
	return false;
}

static void read_samples(struct fw_tune_json *json, struct fw_tune_result *r)
{
	double s;

	if (!fw_tune_json_enter(json, '[')) {
		fw_tune_json_skip(json);
		return;
	}
	while (fw_tune_json_element(json))
		if (fw_tune_json_number(json, &s) && s > 0 && r->n_samples < FW_TUNE_MAX_SAMPLES)
			r->samples_s[r->n_samples++] = s;
}

static void read_occupancy(struct fw_tune_json *json, struct fw_tune_result *r)
{
	double share;

	if (fw_tune_json_number(json, &share) && share >= 0 && share <= 1)
		r->occupancy = share;
}

/* Numbers of a result by their key. False: another key. */
static bool read_number(struct fw_tune_json *json, const char *key, struct fw_tune_result *r,
			struct parts *parts)
{
	const struct {
		const char *key;
		uint32_t *number;
		bool is_attribute;
	} numbers[] = { { "registers", &r->registers, true },
			{ "static_smem", &r->static_smem, true },
			{ "dynamic_smem", &r->dynamic_smem, true },
			{ "spill_bytes", &r->spill_bytes, true },
			{ "max_threads", &r->max_threads, true },
			{ "limiters", &r->limiters, false },
			{ "sm_clock_mhz", &r->sm_clock_mhz, false },
			{ "discarded", &r->discarded, false },
			{ "unsteady", &r->unsteady, false } };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(key, numbers[i].key))
			continue;
		if (read_u32(json, numbers[i].number) && numbers[i].is_attribute)
			parts->has_attributes = true;
		return true;
	}
	return false;
}

/* Members of a header by their key. False: another key. */
static bool read_condition(struct fw_tune_json *json, const char *key,
			   struct fw_tune_cache_line *line)
{
	struct fw_tune_conditions *c = &line->header;
	const struct {
		const char *key;
		char *text;
		size_t size;
	} texts[] = { { "kernel", c->kernel, sizeof(c->kernel) },
		      { "gpu", c->gpu, sizeof(c->gpu) },
		      { "uuid", c->uuid, sizeof(c->uuid) },
		      { "nvrtc", c->nvrtc, sizeof(c->nvrtc) },
		      { "l2", line->l2, sizeof(line->l2) } };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(key, texts[i].key)) {
			fw_tune_json_text(json, texts[i].text, texts[i].size);
			return true;
		}
	}
	if (!strcmp(key, "cc"))
		read_u32(json, &c->cc);
	else if (!strcmp(key, "driver"))
		read_u32(json, &c->driver);
	else if (!strcmp(key, "source"))
		read_hash(json, &c->source);
	else if (!strcmp(key, "spec"))
		read_hash(json, &c->spec);
	else
		return false;
	return true;
}

static void read_member(struct fw_tune_json *json, const char *key,
			const struct fw_tune_space *space, struct fw_tune_cache_line *line,
			struct parts *parts)
{
	struct fw_tune_result *r = &line->result;
	double seconds;

	if (!strcmp(key, "fullwarp_tune"))
		read_u32(json, &parts->version);
	else if (!strcmp(key, "conditions"))
		parts->has_conditions = read_hash(json, &line->conditions);
	else if (!strcmp(key, "config") && !parts->has_config)
		read_config(json, space, &r->config, parts);
	else if (!strcmp(key, "status"))
		parts->has_status = read_status(json, &r->status);
	else if (!strcmp(key, "reason"))
		fw_tune_json_text(json, r->reason, sizeof(r->reason));
	else if (!strcmp(key, "occupancy"))
		read_occupancy(json, r);
	else if (!strcmp(key, "code"))
		read_hash(json, &r->cubin_hash);
	else if (!strcmp(key, "samples_s"))
		read_samples(json, r);
	else if (!strcmp(key, "compile_s"))
		r->compile_s = fw_tune_json_number(json, &seconds) && seconds >= 0 ? seconds : 0;
	else if (!read_number(json, key, r, parts) && !read_condition(json, key, line))
		fw_tune_json_skip(json);
}

enum fw_tune_line fw_tune_cache_read(const char *text, size_t len,
				     const struct fw_tune_space *space,
				     struct fw_tune_cache_line *line)
{
	struct fw_tune_result *r = &line->result;
	struct parts parts = { 0 };
	struct fw_tune_json json;
	char key[32];

	*line = (struct fw_tune_cache_line){ .result.occupancy = -1 };
	line->header.l2 = line->l2;
	fw_tune_json_init(&json, text, len);
	if (!fw_tune_json_enter(&json, '{'))
		return FW_TUNE_LINE_DAMAGED;
	while (fw_tune_json_key(&json, key, sizeof(key)))
		read_member(&json, key, space, line, &parts);
	if (!fw_tune_json_is_at_end(&json) || !parts.has_conditions)
		return FW_TUNE_LINE_DAMAGED;
	if (parts.version)
		return parts.version == VERSION ? FW_TUNE_LINE_HEADER : FW_TUNE_LINE_DAMAGED;
	if (!parts.has_config || !parts.has_status || (r->status == FW_TUNE_OK && !r->n_samples))
		return FW_TUNE_LINE_DAMAGED;
	r->has_attributes = parts.has_attributes;
	fw_tune_summarize(r);
	return parts.is_foreign ? FW_TUNE_LINE_FOREIGN_SPACE : FW_TUNE_LINE_RESULT;
}
