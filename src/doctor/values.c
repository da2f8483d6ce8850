/* Values out of the texts that the kernel writes. */
#include "doctor/host.h"

#include <string.h>

const char *fw_host_field(struct fw_host *host, const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len))
			continue;
		line += len;
		if (*line && !strchr(" \t:", *line))
			continue;
		line += strspn(line, " \t:");
		return fw_arena_strndup(&host->arena, line, strcspn(line, "\n"));
	}
	return NULL;
}

bool fw_host_number(const char *text, uint64_t *number)
{
	uint64_t n = 0;
	const char *p;

	if (!text)
		return false;
	text += strspn(text, " \t");
	for (p = text; *p >= '0' && *p <= '9'; p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return p != text;
}

/* The range at *list: "3" or "0-7"; moves past it. */
static bool next_range(const char **list, uint64_t *first, uint64_t *last)
{
	const char *p = *list;

	if (!fw_host_number(p, first))
		return false;
	p += strspn(p, " \t0123456789");
	*last = *first;
	if (*p == '-') {
		if (!fw_host_number(p + 1, last) || *last < *first)
			return false;
		p += 1 + strspn(p + 1, "0123456789");
	}
	*list = p + (*p == ',');
	return *last < 1u << 20;
}

unsigned fw_host_list_count(const char *list)
{
	uint64_t first, last, count = 0;

	while (list && *list && next_range(&list, &first, &last))
		count += last - first + 1;
	return count > 1u << 20 ? 0 : (unsigned)count;
}

bool fw_host_list_has(const char *list, unsigned number)
{
	uint64_t first, last;

	while (list && *list && next_range(&list, &first, &last))
		if (number >= first && number <= last)
			return true;
	return false;
}

unsigned fw_host_cores(struct fw_host *host)
{
	struct fw_host_file status = fw_host_read(host, "/proc/self/status");
	const char *list =
		status.text ? fw_host_field(host, status.text, "Cpus_allowed_list") : NULL;

	return list ? fw_host_list_count(list) : 0;
}
