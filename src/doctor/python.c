#include "doctor/python.h"

#include <string.h>

/* The text between quotes after `key` at the beginning of a line; NULL: none, or None. */
static const char *quoted(struct fw_host *host, const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *quote, *end;
		size_t len;

		line += *line == '\n';
		if (strncmp(line, key, strlen(key)))
			continue;
		len = strcspn(line, "\n");
		quote = memchr(line, '=', len);
		quote = quote ? quote + 1 + strspn(quote + 1, " ") : NULL;
		if (!quote || (*quote != '\'' && *quote != '"'))
			return NULL;
		end = strchr(quote + 1, *quote);
		return end && end < line + len ? fw_arena_strndup(&host->arena, quote + 1,
								  (size_t)(end - quote - 1))
					       : NULL;
	}
	return NULL;
}

struct fw_torch fw_torch_find(struct fw_host *host, const struct fw_folders *sites)
{
	for (unsigned i = 0; i < sites->count; i++) {
		struct fw_host_file file =
			fw_host_read(host, "%s/torch/version.py", sites->paths[i]);
		struct fw_torch torch = { .site = sites->paths[i] };

		if (!file.text)
			continue;
		torch.version = quoted(host, file.text, "__version__");
		torch.cuda = quoted(host, file.text, "cuda");
		if (!torch.version)
			torch.version = "of an unknown version";
		return torch;
	}
	return (struct fw_torch){ 0 };
}

const char *fw_package_version(struct fw_host *host, const char *site, const char *name)
{
	struct fw_host_names names = fw_host_list(host, "%s", site);
	size_t len = strlen(name);

	for (size_t i = 0; i < names.count; i++) {
		const char *end = strstr(names.names[i], ".dist-info");
		const char *dash = strchr(names.names[i], '-');

		if (!strncmp(names.names[i], name, len) && end && dash && dash < end)
			return fw_host_text(host, "%.*s", (int)(end - dash - 1), dash + 1);
	}
	return NULL;
}

bool fw_python_of_program(struct fw_host *host, struct fw_folders *sites)
{
	const char *path = host->program, *name = path ? strrchr(path, '/') : NULL, *bin;

	if (!path || strncmp(name ? name + 1 : path, "python", 6))
		return false;
	if (!name)
		path = fw_program_find(host, path);
	bin = path ? strstr(path, "/bin/python") : NULL;
	if (bin)
		fw_folders_add_prefix(host, sites,
				      fw_host_text(host, "%.*s", (int)(bin - path), path));
	/* The system's interpreter reads the user's and the administrator's packages too. */
	if (bin && !strncmp(path, "/usr/bin/", 9))
		fw_folders_of_python(host, sites);
	return true;
}
