#include "pm_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fake_pm_line(const char *key, size_t index, char rest[FAKE_PM_LINE])
{
	const char *path = getenv("FW_FAKE_PM");
	FILE *file = path ? fopen(path, "r") : NULL;
	size_t length = strlen(key);
	char line[FAKE_PM_LINE];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = 0;
		if (strncmp(line, key, length) || line[length] != ' ' || index--)
			continue;
		snprintf(rest, FAKE_PM_LINE, "%s", line + length + 1);
		is_found = true;
	}
	if (file)
		fclose(file);
	return is_found;
}

double fake_pm_number(const char *key, double usual)
{
	char rest[FAKE_PM_LINE];

	for (size_t i = 0; fake_pm_line(key, i, rest); i++)
		usual = strtod(rest, NULL);
	return usual;
}
