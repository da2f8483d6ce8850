/*
 * The format, line by line: "fullwarp engine choices 1", the identity, then for each problem "KEY US cudnn ENGINE WORKSPACE
 * TYPE=VALUE..." or "KEY US cublaslt WORKSPACE WORD..." (eight words in hexadecimal), and last "end CRC" of all before it.
 */
#include "nn/cudnn_cache.h"

#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

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

/* The last line and what it says of the bytes before it. */
static bool is_whole(const char *text, size_t size, size_t *body)
{
	char line[32];
	uint64_t crc;
	size_t at = size;

	if (size < 2 || text[size - 1] != '\n')
		return false;
	for (at = size - 1; at && text[at - 1] != '\n'; at--)
		;
	if (size - 1 - at >= sizeof(line))
		return false;
	memcpy(line, text + at, size - 1 - at);
	line[size - 1 - at] = 0;
	*body = at;
	return !strncmp(line, "end ", 4) && number(line + 4, 16, &crc) &&
	       crc == crc32(0, (const unsigned char *)text, (unsigned)at);
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
	if (!is_whole(text, size, &body))
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

/* FNV-1a: only to make a file name; the identity itself is compared. */
static bool file_name(const struct fw_nn_gpu *gpu, const char *identity, char path[PATH_MAX])
{
	uint64_t hash = 0xcbf29ce484222325u;
	int length;

	for (const char *c = identity; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	length = snprintf(path, PATH_MAX, "%s/nn-engines-%016" PRIx64 ".txt", gpu->cache_dir, hash);
	return length > 0 && length < PATH_MAX - 32;
}

void fw_nn_cache_load(const struct fw_nn_gpu *gpu, const char *identity, struct fw_nn_cache *cache)
{
	struct fw_error err = { 0 };
	char path[PATH_MAX];
	struct fw_file file;

	*cache = (struct fw_nn_cache){ 0 };
	if (!gpu->cache_dir || !file_name(gpu, identity, path) || access(path, F_OK))
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
	size_t body;
	FILE *out = open_memstream(&text, size);
	bool good;

	if (!out)
		return NULL;
	fprintf(out, FIRST_LINE "\n%s\n", identity);
	for (uint32_t i = 0; i < n; i++)
		if (choices[i]->us >= 0)
			print_choice(out, choices[i]);
	good = !fflush(out);
	body = *size;
	fprintf(out, "end %08lx\n",
		good ? crc32(0, (const unsigned char *)text, (unsigned)body) : 0);
	if (fclose(out) || !good) {
		free(text);
		return NULL;
	}
	return text;
}

static bool write_whole(const char *path, const char *text, size_t size)
{
	FILE *out = fopen(path, "wxb");
	bool good;

	if (!out)
		return false;
	good = fwrite(text, 1, size, out) == size;
	return !fclose(out) && good;
}

void fw_nn_cache_save(const struct fw_nn_gpu *gpu, const char *identity,
		      const struct fw_nn_choice *const *choices, uint32_t n)
{
	char path[PATH_MAX], part[PATH_MAX];
	size_t size = 0;
	char *text;

	if (!gpu->cache_dir || !file_name(gpu, identity, path))
		return;
	text = print_all(identity, choices, n, &size);
	if (!text)
		return;
	mkdir(gpu->cache_dir, 0777); /* of one level; if it is there already, so much the better */
	snprintf(part, sizeof(part), "%.*s.%ld", PATH_MAX - 32, path, (long)getpid());
	unlink(part);
	if (!write_whole(part, text, size) || rename(part, path)) {
		fw_nn_gpu_say(gpu, "engine choices could not be stored in %s: %s", path,
			      strerror(errno));
		unlink(part);
	}
	free(text);
}
