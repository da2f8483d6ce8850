#include "doctor/loader.h"

#include "base/file.h"
#include "doctor/loader_cache.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_BYTES ((size_t)8 << 20)
#define PATH_BYTES  4096

/* Paths that are tried and files that are opened, for one program. */
#define TRIES_MOST 50000u
#define OPENS_MOST 2048u

struct search {
	struct fw_host *host;
	struct fw_loader *loader;
	const char *library_path; /* LD_LIBRARY_PATH */
	char *cache;
	size_t cache_bytes;
	unsigned tries, opens;
};

/* Whether the loader takes the file: an ELF file of the program's machine. */
static bool open_object(struct search *search, const char *path, struct fw_dynamic *dynamic,
			struct fw_error *err)
{
	struct fw_loader *loader = search->loader;
	unsigned machine = loader->count ? loader->objects[0].dynamic.machine : 0;
	int fd = search->opens++ < OPENS_MOST ? fw_host_open_file(search->host, path) : -1;
	struct fw_file file = { 0 };
	fw_status status;
	char link[64];

	if (fd < 0)
		return fw_fail(err, FW_ERR_IO, "it cannot be opened") == FW_OK;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	status = fw_file_open(&file, link, err);
	close(fd);
	if (!status)
		status = fw_dynamic_read(dynamic, &search->host->arena, file.data, file.size, err);
	fw_file_close(&file);
	return !status && (!machine || dynamic->machine == machine);
}

/* The folder of an object: $ORIGIN. */
static const char *origin_of(struct fw_host *host, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ".";
	return slash == path ? "/" : fw_host_text(host, "%.*s", (int)(slash - path), path);
}

/* $LIB: Debian's word for it, or that of the others. */
static const char *lib_of(const struct search *search, bool is_debian)
{
	if (!is_debian)
		return "lib64";
	return search->loader->objects[0].dynamic.machine == EM_AARCH64 ? "lib/aarch64-linux-gnu"
									: "lib/x86_64-linux-gnu";
}

static const char *platform_of(const struct search *search)
{
	return search->loader->objects[0].dynamic.machine == EM_AARCH64 ? "aarch64" : "x86_64";
}

/* What "$ORIGIN", "${LIB}"... at p stands for, and how many bytes it takes; NULL: no such word. */
static const char *word_at(struct search *search, const char *p, size_t len, const char *origin,
			   bool is_debian, size_t *used)
{
	const struct {
		const char *word, *value;
	} words[] = { { "ORIGIN", origin },
		      { "LIB", lib_of(search, is_debian) },
		      { "PLATFORM", platform_of(search) } };
	size_t brace = len > 1 && p[1] == '{';

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t size = strlen(words[i].word);

		*used = 1 + brace + size + brace;
		if (*used <= len && !strncmp(p + 1 + brace, words[i].word, size) &&
		    (!brace || p[1 + brace + size] == '}'))
			return words[i].value;
	}
	return NULL;
}

/* An element of a list with its words replaced; false: too long. */
static bool expand(struct search *search, const char *element, size_t len,
		   const struct fw_loader_object *object, char out[PATH_BYTES], bool is_debian)
{
	const char *origin = memchr(element, '$', len) ? origin_of(search->host, object->path) : "";
	size_t at = 0, room = PATH_BYTES;

	while (at < len) {
		size_t used = 1;
		const char *value = element[at] == '$' ? word_at(search, element + at, len - at,
								 origin, is_debian, &used)
						       : NULL;
		int n = value ? snprintf(out, room, "%s", value)
			      : snprintf(out, room, "%c", element[at]);

		if (n < 0 || (size_t)n >= room)
			return false;
		out += n;
		room -= (size_t)n;
		at += value ? used : 1;
	}
	*out = '\0';
	return true;
}

static bool try_path(struct search *search, struct fw_loader_object *found, const char *folder,
		     const char *by)
{
	char path[2 * PATH_BYTES];
	struct fw_dynamic dynamic;

	if (search->tries++ >= TRIES_MOST)
		return false;
	snprintf(path, sizeof(path), "%s/%s", folder, found->name);
	if (*path != '/' || !fw_host_has(search->host, path) ||
	    !open_object(search, path, &dynamic, NULL))
		return false;
	found->path = fw_host_text(search->host, "%s", path);
	found->by = by;
	found->dynamic = dynamic;
	return true;
}

/* Elements are separated by colons, LD_LIBRARY_PATH's by semicolons too. Empty ones are left out. */
static bool try_list(struct search *search, struct fw_loader_object *found, const char *list,
		     const struct fw_loader_object *owner, const char *by)
{
	while (list && *list) {
		size_t len = strcspn(list, ":;");

		for (int i = 0; len && i < 2; i++) {
			char folder[PATH_BYTES];

			if (expand(search, list, len, owner, folder, i) &&
			    try_path(search, found, folder, by))
				return true;
			if (!memchr(list, '$', len))
				break;
		}
		list += len + (list[len] != '\0');
	}
	return false;
}

/* RPATH of the object that asks, of the one that asked for it, up to the program. */
static bool try_rpaths(struct search *search, struct fw_loader_object *found)
{
	const struct fw_loader_object *objects = search->loader->objects;

	for (unsigned i = found->parent;; i = objects[i].parent) {
		if (!objects[i].dynamic.runpath &&
		    try_list(search, found, objects[i].dynamic.rpath, &objects[i], "RPATH"))
			return true;
		if (!i)
			return false;
	}
}

static bool try_system(struct search *search, struct fw_loader_object *found)
{
	static const char *const folders[] = { "/lib/x86_64-linux-gnu",
					       "/usr/lib/x86_64-linux-gnu",
					       "/lib/aarch64-linux-gnu",
					       "/usr/lib/aarch64-linux-gnu",
					       "/lib64",
					       "/usr/lib64",
					       "/lib",
					       "/usr/lib" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (try_path(search, found, folders[i], "the system's folders"))
			return true;
	return false;
}

static bool try_cache(struct search *search, struct fw_loader_object *found)
{
	const char *path =
		search->cache ? fw_loader_cache_find(search->cache, search->cache_bytes,
						     search->loader->objects[0].dynamic.machine,
						     found->name)
			      : NULL;

	if (!path || *path != '/' || !open_object(search, path, &found->dynamic, NULL))
		return false;
	found->path = fw_host_text(search->host, "%s", path);
	found->by = "ld.so.cache";
	return true;
}

static void find(struct search *search, struct fw_loader_object *found)
{
	const struct fw_loader_object *parent = &search->loader->objects[found->parent];

	if (strchr(found->name, '/')) {
		if (*found->name == '/' &&
		    open_object(search, found->name, &found->dynamic, NULL)) {
			found->path = found->name;
			found->by = "its path";
		}
		return;
	}
	if (!parent->dynamic.runpath && try_rpaths(search, found))
		return;
	if (try_list(search, found, search->library_path, &search->loader->objects[0],
		     "LD_LIBRARY_PATH"))
		return;
	if (try_list(search, found, parent->dynamic.runpath, parent, "RUNPATH"))
		return;
	if (!try_cache(search, found))
		try_system(search, found);
}

/* By the name that was asked for, or that the file calls itself. */
static bool is_loaded(const struct fw_loader *loader, const char *name)
{
	for (unsigned i = 0; i < loader->count; i++)
		if (!strcmp(loader->objects[i].name, name) ||
		    (loader->objects[i].dynamic.soname &&
		     !strcmp(loader->objects[i].dynamic.soname, name)))
			return true;
	return false;
}

static void read_cache(struct search *search)
{
	int fd = fw_host_open_file(search->host, "/etc/ld.so.cache");
	ssize_t got = 1;

	search->cache = fd < 0 ? NULL : malloc(CACHE_BYTES);
	while (search->cache && search->cache_bytes < CACHE_BYTES && got > 0) {
		got = read(fd, search->cache + search->cache_bytes,
			   CACHE_BYTES - search->cache_bytes);
		search->cache_bytes += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
}

/* Breadth first, as the loader does. */
static void follow(struct search *search)
{
	struct fw_loader *loader = search->loader;

	for (unsigned i = 0; i < loader->count; i++) {
		const struct fw_dynamic *dynamic = &loader->objects[i].dynamic;

		for (unsigned j = 0; loader->objects[i].path && j < dynamic->needed_count; j++) {
			struct fw_loader_object *found = &loader->objects[loader->count];

			if (is_loaded(loader, dynamic->needed[j]))
				continue;
			loader->is_cut = loader->count == FW_LOADER_OBJECTS;
			if (loader->is_cut)
				return;
			*found = (struct fw_loader_object){ .name = dynamic->needed[j],
							    .parent = i };
			find(search, found);
			loader->count++;
		}
	}
}

bool fw_loader_follow(struct fw_host *host, const char *program, struct fw_loader *loader,
		      struct fw_error *why)
{
	struct search search = { .host = host, .loader = loader };
	struct fw_loader_object *first;

	*loader = (struct fw_loader){ .objects = fw_arena_array(&host->arena, FW_LOADER_OBJECTS,
								sizeof(*loader->objects)) };
	if (!loader->objects)
		return fw_fail_nomem(why, FW_LOADER_OBJECTS * sizeof(*loader->objects)) == FW_OK;
	first = &loader->objects[0];
	/* $ORIGIN of a program that was started through a link is where the link leads. */
	*first = (struct fw_loader_object){
		program, fw_host_real_path(host, program), "--for", 0, { 0 }
	};
	if (!first->path)
		first->path = program;
	if (!open_object(&search, program, &first->dynamic, why))
		return false;
	loader->count = 1;
	search.library_path = fw_host_env(host, "LD_LIBRARY_PATH");
	read_cache(&search);
	follow(&search);
	loader->is_cut |= search.tries > TRIES_MOST || search.opens > OPENS_MOST;
	free(search.cache);
	return true;
}

const struct fw_loader_object *fw_loader_find(const struct fw_loader *loader, const char *stem,
					      const struct fw_loader_object *last)
{
	size_t len = strlen(stem), first = last ? (size_t)(last - loader->objects) + 1 : 1;

	for (size_t i = first; i < loader->count; i++) {
		const char *slash = strrchr(loader->objects[i].name, '/');
		const char *name = slash ? slash + 1 : loader->objects[i].name;

		if (!strncmp(name, stem, len) && (!name[len] || name[len] == '.'))
			return &loader->objects[i];
	}
	return NULL;
}
