/* Follows the #include lines of a source. */
#include "tune/include_hash.h"

#include "base/file.h"
#include "base/map.h"

#include <stdio.h>
#include <string.h>

#define MAX_FILES 256
#define MAX_BYTES ((size_t)16 << 20) /* of one file; more is no header */

struct walk {
	const struct fw_tune_spec *spec;
	struct fw_arena arena;
	const char *paths[MAX_FILES]; /* seen, in the order found; also the queue */
	uint32_t n_paths;
	uint64_t hash;
};

static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + (slash == path) : 0;
}

fw_status fw_tune_source_folder(const struct fw_tune_spec *spec, char folder[FW_TUNE_FOLDER_BYTES],
				struct fw_error *err)
{
	const char *path = spec->source_path ? spec->source_path : "";
	size_t len = folder_len(path);

	if (len >= FW_TUNE_FOLDER_BYTES)
		return fw_fail(err, FW_ERR_ARGUMENT, "the source's path has %zu bytes",
			       strlen(path));
	snprintf(folder, FW_TUNE_FOLDER_BYTES, "%.*s", len ? (int)len : 1, len ? path : ".");
	return FW_OK;
}

/* Adds folder/name if it is a file not seen before. */
static bool try_file(struct walk *walk, const char *folder, size_t folder_bytes, const char *name,
		     size_t len)
{
	struct fw_file file;
	char *path =
		fw_arena_printf(&walk->arena, "%.*s/%.*s", folder_bytes ? (int)folder_bytes : 1,
				folder_bytes ? folder : ".", (int)len, name);

	if (!path || fw_file_open(&file, path, NULL))
		return false;
	fw_file_close(&file);
	for (uint32_t i = 0; i < walk->n_paths; i++)
		if (!strcmp(walk->paths[i], path))
			return true;
	if (walk->n_paths < MAX_FILES)
		walk->paths[walk->n_paths++] = path;
	return true;
}

/* The folder that a flag names: "-Idir", "-I dir" given as two, "--include-path=dir"; NULL: none. */
static const char *flag_folder(const struct fw_tune_spec *spec, uint32_t i)
{
	static const char long_form[] = "--include-path=";
	const char *flag = spec->flags[i];

	if (i && !strcmp(spec->flags[i - 1], "-I"))
		return flag;
	if (!strncmp(flag, "-I", 2) && flag[2])
		return flag + 2;
	return strncmp(flag, long_form, strlen(long_form)) ? NULL : flag + strlen(long_form);
}

static void find(struct walk *walk, const char *includer, const char *name, size_t len)
{
	const char *source = walk->spec->source_path ? walk->spec->source_path : "";

	if (!len || len > 512 || try_file(walk, includer, folder_len(includer), name, len) ||
	    try_file(walk, source, folder_len(source), name, len))
		return;
	for (uint32_t i = 0; i < walk->spec->n_flags; i++) {
		const char *folder = flag_folder(walk->spec, i);

		if (folder && try_file(walk, folder, strlen(folder), name, len))
			return;
	}
}

/* The name between quotes or angle brackets of an #include line that begins at text; 0: it is none. */
static size_t included(const char *text, size_t bytes, const char **name)
{
	static const char word[] = "include";
	size_t i = 0, start;
	char close;

	while (i < bytes && (text[i] == ' ' || text[i] == '\t'))
		i++;
	if (i >= bytes || text[i++] != '#')
		return 0;
	while (i < bytes && (text[i] == ' ' || text[i] == '\t'))
		i++;
	if (bytes - i < sizeof(word) || memcmp(text + i, word, sizeof(word) - 1))
		return 0;
	i += sizeof(word) - 1;
	while (i < bytes && (text[i] == ' ' || text[i] == '\t'))
		i++;
	if (i >= bytes || (text[i] != '"' && text[i] != '<'))
		return 0;
	close = text[i] == '<' ? '>' : '"';
	start = ++i;
	while (i < bytes && text[i] != close && text[i] != '\n')
		i++;
	*name = text + start;
	return i < bytes && text[i] == close ? i - start : 0;
}

static void scan(struct walk *walk, const char *path, const char *text, size_t bytes)
{
	const char *end = text + bytes;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)), *name = NULL;
		size_t len = included(text, (size_t)(end - text), &name);

		if (len)
			find(walk, path, name, len);
		text = newline ? newline + 1 : end;
	}
}

fw_status fw_tune_include_hash(const struct fw_tune_spec *spec, uint64_t *hash,
			       struct fw_error *err)
{
	struct walk walk = { .spec = spec };

	scan(&walk, spec->source_path ? spec->source_path : "", spec->source, spec->source_bytes);
	for (uint32_t i = 0; i < walk.n_paths; i++) {
		struct fw_file file;
		fw_status status = fw_file_open(&file, walk.paths[i], err);

		if (status) {
			fw_arena_release(&walk.arena);
			return status;
		}
		walk.hash = fw_hash_u64(walk.hash ^ fw_hash_bytes(file.data, file.size));
		if (file.size && file.size <= MAX_BYTES)
			scan(&walk, walk.paths[i], (const char *)file.data, file.size);
		fw_file_close(&file);
	}
	fw_arena_release(&walk.arena);
	*hash = walk.hash;
	return FW_OK;
}
