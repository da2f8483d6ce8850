/* Standard input is OpenMetrics text by the strict reader of the tests; else says what is wrong, and exits 1. */
#include "unit/openmetrics_check.h"

static char text[1 << 20];

int main(void)
{
	static struct openmetrics_check check;
	size_t n = fread(text, 1, sizeof(text) - 1, stdin);
	const char *error;

	text[n] = '\0';
	error = openmetrics_check(&check, text);
	if (*error)
		fprintf(stderr, "%s\n", error);
	return *error != '\0';
}
