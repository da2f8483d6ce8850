#include "doctor/libraries.h"

#include <string.h>

static const char *const system_folders[] = {
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/lib",
	"/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/local/lib",
	"/usr/local/nvidia/lib64",
	"/usr/lib/wsl/lib",
};

void fw_folders_add(struct fw_host *host, struct fw_folders *folders, const char *path)
{
	struct stat st;

	if (folders->count == FW_FOLDERS_MAX || fw_host_stat(host, path, &st) ||
	    !S_ISDIR(st.st_mode))
		return;
	for (unsigned i = 0; i < folders->count; i++)
		if (folders->inodes[i] == st.st_ino && folders->devices[i] == st.st_dev)
			return;
	folders->inodes[folders->count] = st.st_ino;
	folders->devices[folders->count] = st.st_dev;
	folders->paths[folders->count++] = fw_host_text(host, "%s", path);
}

void fw_folders_add_list(struct fw_host *host, struct fw_folders *folders, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ":");

		if (*list == '/')
			fw_folders_add(host, folders, fw_host_text(host, "%.*s", (int)len, list));
		list += len + (list[len] == ':');
	}
}

/* ld.so.conf.d/NAME.conf: a folder a line. */
static void add_configured(struct fw_host *host, struct fw_folders *folders)
{
	struct fw_host_names names = fw_host_list(host, "/etc/ld.so.conf.d");

	for (size_t i = 0; i < names.count && i < 64; i++) {
		struct fw_host_file file =
			fw_host_read(host, "/etc/ld.so.conf.d/%s", names.names[i]);

		for (const char *line = file.text; line && *line;) {
			size_t len = strcspn(line, "\n");

			if (*line == '/' && len < 4096)
				fw_folders_add(host, folders,
					       fw_host_text(host, "%.*s", (int)len, line));
			line += len + (line[len] == '\n');
		}
	}
}

void fw_folders_of_loader(struct fw_host *host, struct fw_folders *folders)
{
	fw_folders_add_list(host, folders, fw_host_env(host, "LD_LIBRARY_PATH"));
	for (size_t i = 0; i < sizeof(system_folders) / sizeof(system_folders[0]); i++)
		fw_folders_add(host, folders, system_folders[i]);
	add_configured(host, folders);
}

void fw_folders_add_prefix(struct fw_host *host, struct fw_folders *folders, const char *prefix)
{
	struct fw_host_names names = fw_host_list(host, "%s/lib", prefix);

	for (size_t i = 0; i < names.count; i++) {
		if (strncmp(names.names[i], "python3", 7))
			continue;
		fw_folders_add(
			host, folders,
			fw_host_text(host, "%s/lib/%s/site-packages", prefix, names.names[i]));
		fw_folders_add(
			host, folders,
			fw_host_text(host, "%s/lib/%s/dist-packages", prefix, names.names[i]));
	}
}

void fw_folders_of_python(struct fw_host *host, struct fw_folders *folders)
{
	static const char *const prefixes[] = { "/usr/local", "/usr", "/opt/conda", "/opt/venv" };
	static const char *const variables[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	const char *home = fw_host_env(host, "HOME");
	const char *python = fw_program_find(host, "python3"), *bin;

	bin = python ? strstr(python, "/bin/python3") : NULL;
	if (bin)
		fw_folders_add_prefix(host, folders,
				      fw_host_text(host, "%.*s", (int)(bin - python), python));
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (fw_host_env(host, variables[i]))
			fw_folders_add_prefix(host, folders, fw_host_env(host, variables[i]));
	if (home && *home == '/')
		fw_folders_add_prefix(host, folders, fw_host_text(host, "%s/.local", home));
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		fw_folders_add_prefix(host, folders, prefixes[i]);
}

void fw_folders_of_cuda(struct fw_host *host, struct fw_folders *folders)
{
	static struct fw_folders none;
	struct fw_folders sites = none;
	struct fw_host_names names = fw_host_list(host, "/usr/local");

	for (size_t i = 0; i < names.count; i++)
		if (!strncmp(names.names[i], "cuda", 4)) {
			fw_folders_add(host, folders,
				       fw_host_text(host, "/usr/local/%s/lib64", names.names[i]));
			fw_folders_add(host, folders,
				       fw_host_text(host, "/usr/local/%s/extras/CUPTI/lib64",
						    names.names[i]));
		}
	if (fw_host_env(host, "CONDA_PREFIX"))
		fw_folders_add(host, folders,
			       fw_host_text(host, "%s/lib", fw_host_env(host, "CONDA_PREFIX")));
	fw_folders_of_python(host, &sites);
	for (unsigned i = 0; i < sites.count; i++) {
		fw_folders_add(host, folders, fw_host_text(host, "%s/torch/lib", sites.paths[i]));
		names = fw_host_list(host, "%s/nvidia", sites.paths[i]);
		for (size_t j = 0; j < names.count && j < 64; j++)
			fw_folders_add(host, folders,
				       fw_host_text(host, "%s/nvidia/%s/lib", sites.paths[i],
						    names.names[j]));
	}
}

/* One folder and version is one library; of its names the one with a number ("libcupti.so.12") stays. */
static bool is_known(struct fw_libraries *libraries, const struct fw_library *library, size_t stem)
{
	for (unsigned i = 0; i < libraries->count; i++) {
		struct fw_library *known = &libraries->found[i];

		if (strcmp(known->folder, library->folder) ||
		    strcmp(known->version, library->version))
			continue;
		if (!known->name[stem])
			known->name = library->name;
		return true;
	}
	return false;
}

/* What follows ".so." of a name, "" where nothing does. */
static const char *version_of(const char *name)
{
	const char *so = name ? strstr(name, ".so.") : NULL;

	return so ? so + 4 : "";
}

void fw_libraries_find(struct fw_host *host, const struct fw_folders *folders, const char *stem,
		       struct fw_libraries *libraries)
{
	size_t len = strlen(stem);

	libraries->count = 0;
	for (unsigned i = 0; i < folders->count; i++) {
		struct fw_host_names names = fw_host_list(host, "%s", folders->paths[i]);

		for (size_t j = 0; j < names.count; j++) {
			struct fw_library library = { folders->paths[i], names.names[j], "" };

			if (strncmp(library.name, stem, len) ||
			    (library.name[len] && library.name[len] != '.'))
				continue;
			library.version = version_of(fw_host_last_name(
				host, fw_host_text(host, "%s/%s", library.folder, library.name)));
			if (!is_known(libraries, &library, len) &&
			    libraries->count < FW_LIBRARIES_MAX)
				libraries->found[libraries->count++] = library;
		}
	}
}

const char *fw_program_find(struct fw_host *host, const char *name)
{
	const char *path = fw_host_env(host, "PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		const char *file = fw_host_text(host, "%.*s/%s", (int)len, path, name);

		if (*path == '/' && fw_host_has(host, file))
			return file;
		path += len + (path[len] == ':');
	}
	return NULL;
}
