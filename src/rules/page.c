/* Finds the page of a rule among those built into the program. */
#include "rules/pages.h"
#include "rules/rule.h"

#include <string.h>

const char *fw_rule_page(const char *id)
{
	for (const struct fw_page *page = fw_pages; page->id; page++)
		if (!strcmp(page->id, id))
			return page->text;
	return NULL;
}
