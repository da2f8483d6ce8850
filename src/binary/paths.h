#ifndef FW_BINARY_PATHS_H
#define FW_BINARY_PATHS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "binary/binary.h"

/* A regular file to read. */
struct fw_path {
	const char *text;
	bool is_named; /* given by the caller, not found in a folder */
};

/* Collects files; each once, whatever links lead to it. Strings are in arena. */
struct fw_paths {
	struct fw_arena *arena;
	struct fw_vec files;    /* struct fw_path */
	struct fw_vec problems; /* struct fw_binary_problem */
	struct fw_map seen;     /* device and inode */
};

void fw_paths_init(struct fw_paths *paths, struct fw_arena *arena);
void fw_paths_release(struct fw_paths *paths);

/* Adds the file, or every file below the folder in the order of their names. */
fw_status fw_paths_add(struct fw_paths *paths, const char *path, struct fw_error *err);

#endif
