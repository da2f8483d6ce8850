#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

/* Declared here because <cxxabi.h> is C++ only; the Itanium C++ ABI, section 3.4, fixes it. */
extern char *__cxa_demangle(const char *name, char *buf, size_t *len, int *status);

/* A longer name would cost the demangler time and memory out of proportion to its use. */
#define LONGEST_NAME 65536

static const char *skip_static_prefix(const char *name)
{
	static const char prefix[] = "__nv_static_";
	char *end;
	unsigned long n;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return name;
	n = strtoul(name + sizeof(prefix) - 1, &end, 10);
	if (strncmp(end, "__", 2) != 0 || n >= strlen(end + 2))
		return name;
	end += 2 + n;
	return *end == '_' && strncmp(end, "_Z", 2) != 0 ? end + 1 : end;
}

const char *fw_demangle(struct fw_arena *arena, const char *name)
{
	const char *mangled = skip_static_prefix(name);
	const char *result = mangled;
	char *text;
	int status;

	if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) > LONGEST_NAME)
		return mangled;
	text = __cxa_demangle(mangled, NULL, NULL, &status);
	if (text && status == 0) {
		char *copy = fw_arena_strndup(arena, text, strlen(text));

		if (copy)
			result = copy;
	}
	free(text);
	return result;
}
