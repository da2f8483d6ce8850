/*
 * The format, line by line: "fullwarp engine choices 1", the identity, then for each problem "KEY US cudnn ENGINE WORKSPACE
 * TYPE=VALUE..." or "KEY US cublaslt WORKSPACE WORD..." (eight words in hexadecimal), and last "end CRC" of all before it.
 */
#include "nn/cudnn_cache.h"

#include "base/file.h"
#include "base/vec.h"
#include "nn/cudnn_store.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE "fullwarp engine choices 1"
#define LINE_BYTES 2048

void fw_nn_cache_identity(const struct fw_nn_gpu *gpu, const struct fw_nn_plan *plan,
			  char identity[FW_NN_IDENTITY_BYTES])
{
	snprintf(identity, FW_NN_IDENTITY_BYTES,
		 "%s sm_%u, driver %s (CUDA %d), cuDNN %zu, cuBLASLt %zu, model %016" PRIx64
		 ", batch %" PRId64 ", %s",
		 gpu->name, gpu->cc, gpu->driver[0] ? gpu->driver : "unknown", gpu->driver_version,
		 gpu->cudnn.version, gpu->lt.version, plan->graph->hash, plan->batch,
		 fw_nn_precision_name(plan->precision));
}

/* One line without its end, into line; false: none is left, or it is too long. */
static bool next_line(const char **at, const char *end, char line[LINE_BYTES])
{
	const char *stop = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
	size_t length;

	if (!stop || (size_t)(stop - *at) >= LINE_BYTES)
		return false;
	length = (size_t)(stop - *at);
	memcpy(line, *at, length);
	line[length] = 0;
	*at = stop + 1;
	return memchr(line, 0, length) == NULL;
}

/* The next word of a line, ended with NUL; "" after the last. */
static char *word(char **at)
{
	char *begin = *at;

	while (**at && **at != ' ')
		++*at;
	if (**at)
		*(*at)++ = 0;
	return begin;
}

static bool number(const char *text, int base, uint64_t *value)
{
	char *end;

	if (!text[0] || text[0] == '-' || text[0] == '+' || text[0] == ' ')
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && !*end;
}

static bool parse_knobs(char **at, struct fw_nn_config *config)
{
	while (**at) {
		char *text = word(at), *equals = strchr(text, '=');
		uint64_t type, value;
		bool negative;

		if (!equals || config->n_knobs == FW_NN_MAX_KNOBS)
			return false;
		*equals++ = 0;
		negative = *equals == '-';
		if (!number(text, 10, &type) || type > INT32_MAX ||
		    !number(equals + negative, 10, &value) || value > INT64_MAX)
			return false;
		config->knobs[config->n_knobs].type = (int32_t)type;
		config->knobs[config->n_knobs].value = negative ? -(int64_t)value : (int64_t)value;
		config->n_knobs++;
	}
	return true;
}

static bool parse_entry(char *line, struct fw_nn_cache_entry *entry)
{
	char *at = line, *key = word(&at), *us = word(&at), *kind = word(&at), *end;
	uint64_t engine, workspace;

	if (!key[0] || strlen(key) >= FW_NN_KEY_BYTES)
		return false;
	memcpy(entry->key, key, strlen(key) + 1);
	entry->us = strtof(us, &end);
	if (!us[0] || *end || !isfinite(entry->us) || entry->us < 0)
		return false;
	entry->is_gemm = !strcmp(kind, "cublaslt");
	if (!entry->is_gemm) {
		if (strcmp(kind, "cudnn") || !number(word(&at), 10, &engine) || engine > INT32_MAX)
			return false;
		entry->config.engine = (int64_t)engine;
	}
	if (!number(word(&at), 10, &workspace) || workspace > SIZE_MAX / 2)
		return false;
	entry->workspace_bytes = (size_t)workspace;
	if (!entry->is_gemm)
		return parse_knobs(&at, &entry->config);
	for (unsigned i = 0; i < 8; i++)
		if (!number(word(&at), 16, &entry->algo.data[i]))
			return false;
	return !*at && entry->workspace_bytes <= FW_NN_MAX_WORKSPACE;
}

static fw_status parse_entries(const char *at, const char *end, struct fw_nn_cache *cache,
			       struct fw_error *err)
{
	struct fw_vec entries = FW_VEC(struct fw_nn_cache_entry);
	unsigned number_of_line = 3;
	char line[LINE_BYTES];
	fw_status status = FW_OK;

	for (; !status && at < end; number_of_line++) {
		struct fw_nn_cache_entry *entry;

		if (entries.len == FW_NN_CACHE_MAX_ENTRIES || !next_line(&at, end, line)) {
			status = fw_fail(err, FW_ERR_FORMAT, "line %u: too much", number_of_line);
			break;
		}
		entry = fw_vec_push(&entries);
		if (!entry)
			status = fw_fail_nomem(err, sizeof(*entry));
		else if (!parse_entry(line, entry))
			status = fw_fail(err, FW_ERR_FORMAT, "line %u: not a choice",
					 number_of_line);
	}
	if (status) {
		fw_vec_release(&entries);
		return status;
	}
	cache->n = (uint32_t)entries.len;
	cache->entries = entries.data;
	return FW_OK;
}

fw_status fw_nn_cache_parse(const char *text, size_t size, const char *identity,
			    struct fw_nn_cache *cache, struct fw_error *err)
{
	char line[LINE_BYTES];
	const char *at = text;
	size_t body = 0;

	*cache = (struct fw_nn_cache){ 0 };
	if (size > FW_NN_CACHE_MAX_BYTES)
		return fw_fail(err, FW_ERR_FORMAT, "%zu bytes are too many", size);
	if (!fw_nn_store_is_whole(text, size, &body))
		return fw_fail(err, FW_ERR_FORMAT, "it is damaged or not whole");
	if (!next_line(&at, text + body, line) || strcmp(line, FIRST_LINE))
		return fw_fail(err, FW_ERR_FORMAT, "line 1: not '" FIRST_LINE "'");
	if (!next_line(&at, text + body, line))
		return fw_fail(err, FW_ERR_FORMAT, "line 2: it does not say what it is for");
	if (strcmp(line, identity))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "it is for another setting: %.200s", line);
	return parse_entries(at, text + body, cache, err);
}

const struct fw_nn_cache_entry *fw_nn_cache_find(const struct fw_nn_cache *cache, const char *key)
{
	for (uint32_t i = 0; i < cache->n; i++)
		if (!strcmp(cache->entries[i].key, key))
			return &cache->entries[i];
	return NULL;
}

void fw_nn_cache_release(struct fw_nn_cache *cache)
{
	free(cache->entries);
	*cache = (struct fw_nn_cache){ 0 };
}

static bool file_name(const struct fw_nn_gpu *gpu, const char *identity, char path[PATH_MAX])
{
	return gpu->cache_dir && fw_nn_store_path(gpu->cache_dir, "nn-engines",
						  fw_nn_store_hash(0, identity), ".txt", path);
}

void fw_nn_cache_load(const struct fw_nn_gpu *gpu, const char *identity, struct fw_nn_cache *cache)
{
	struct fw_error err = { 0 };
	char path[PATH_MAX];
	struct fw_file file;

	*cache = (struct fw_nn_cache){ 0 };
	if (!file_name(gpu, identity, path) || access(path, F_OK))
		return;
	if (fw_file_open(&file, path, &err)) {
		fw_nn_gpu_say(gpu, "stored engine choices are ignored: %s", err.message);
		return;
	}
	if (fw_nn_cache_parse((const char *)file.data, file.size, identity, cache, &err))
		fw_nn_gpu_say(gpu, "stored engine choices are ignored and made again: %s: %s", path,
			      err.message);
	fw_file_close(&file);
}

static void print_choice(FILE *out, const struct fw_nn_choice *choice)
{
	fprintf(out, "%s %.3f ", choice->key, (double)choice->us);
	if (choice->is_gemm) {
		fprintf(out, "cublaslt %zu", choice->workspace_bytes);
		for (unsigned i = 0; i < 8; i++)
			fprintf(out, " %" PRIx64, choice->algo.data[i]);
	} else {
		fprintf(out, "cudnn %" PRId64 " %zu", choice->config.engine,
			choice->workspace_bytes);
		for (uint32_t i = 0; i < choice->config.n_knobs; i++)
			fprintf(out, " %" PRId32 "=%" PRId64, choice->config.knobs[i].type,
				choice->config.knobs[i].value);
	}
	fputc('\n', out);
}

/* The file's text; free it. NULL: memory is out. */
static char *print_all(const char *identity, const struct fw_nn_choice *const *choices, uint32_t n,
		       size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	fprintf(out, FIRST_LINE "\n%s\n", identity);
	for (uint32_t i = 0; i < n; i++)
		if (choices[i]->us >= 0)
			print_choice(out, choices[i]);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

void fw_nn_cache_save(const struct fw_nn_gpu *gpu, const char *identity,
		      const struct fw_nn_choice *const *choices, uint32_t n)
{
	char path[PATH_MAX];
	size_t size = 0;
	char *text;

	if (!file_name(gpu, identity, path))
		return;
	text = print_all(identity, choices, n, &size);
	if (!text || !fw_nn_store_write(path, text, size))
		fw_nn_gpu_say(gpu, "engine choices could not be stored in %s: %s", path,
			      strerror(errno));
	free(text);
}
