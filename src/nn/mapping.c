/* Files of external data, mapped for as long as the graph lives. */
#include "nn/mapping.h"

#include "base/map.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Files that a model may name: each is kept open as a mapping. */
#define MAX_FILES 1024

static bool leads_out(const char *location)
{
	const char *part = location;

	if (!*location || *location == '/')
		return true;
	for (;;) {
		size_t len = strcspn(part, "/");

		if (len == 2 && part[0] == '.' && part[1] == '.')
			return true;
		if (!part[len])
			return false;
		part += len + 1;
	}
}

/* The real path of location; it must lie below the real path of folder. */
static fw_status resolve(const char *folder, const char *location, char path[PATH_MAX],
			 struct fw_error *err)
{
	char joined[PATH_MAX], base[PATH_MAX];
	size_t len;

	if (leads_out(location))
		return fw_fail(err, FW_ERR_FORMAT,
			       "external data \"%s\": not a path below the model's folder",
			       location);
	if ((size_t)snprintf(joined, sizeof(joined), "%s/%s", folder, location) >= sizeof(joined))
		return fw_fail(err, FW_ERR_FORMAT, "external data \"%.100s...\": name too long",
			       location);
	if (!realpath(folder, base) || !realpath(joined, path))
		return fw_fail(err, FW_ERR_IO, "external data \"%s\": %s", location,
			       strerror(errno));
	len = strlen(base);
	if (strcmp(base, "/") && (strncmp(path, base, len) || path[len] != '/'))
		return fw_fail(
			err, FW_ERR_FORMAT,
			"external data \"%s\": a link leads out of the model's folder, to %s",
			location, path);
	return FW_OK;
}

fw_status fw_nn_mapping_open(struct fw_nn_graph *graph, const char *folder, const char *location,
			     const struct fw_file **file, struct fw_error *err)
{
	struct fw_nn_mapping *m = graph->mappings;
	char path[PATH_MAX];
	fw_status status;
	int count = 0;

	for (; m; m = m->next, count++)
		if (!strcmp(m->location, location)) {
			*file = &m->file;
			return FW_OK;
		}
	if (count >= MAX_FILES)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "more than %d files of external data",
			       MAX_FILES);
	status = resolve(folder, location, path, err);
	m = status ? NULL : fw_arena_alloc(&graph->arena, sizeof(*m));
	if (status)
		return status;
	if (!m)
		return fw_fail_nomem(err, sizeof(*m));
	status = fw_file_open(&m->file, path, err);
	if (status)
		return status;
	m->location = location;
	m->next = graph->mappings;
	graph->mappings = m;
	graph->hash = fw_hash_u64(graph->hash ^ fw_hash_bytes(m->file.data, m->file.size));
	*file = &m->file;
	return FW_OK;
}

void fw_nn_mappings_close(struct fw_nn_graph *graph)
{
	for (struct fw_nn_mapping *m = graph->mappings; m; m = m->next)
		fw_file_close(&m->file);
	graph->mappings = NULL;
}
