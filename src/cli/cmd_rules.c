/* fullwarp rules: what the report looks for, and the page of one rule. */
#include "cli/cmd.h"
#include "cli/options.h"
#include "rules/rule.h"

#include <stdio.h>

static const struct fw_usage usage = {
	.command = "rules",
	.operands = "[RULE]",
	.about = "Lists the causes that 'fullwarp report' looks for, or explains one of them.\n",
};

static void list(void)
{
	size_t count;
	const struct fw_rule *const *rules = fw_rules(&count);

	for (size_t i = 0; i < count; i++)
		printf("%-22s %s\n", rules[i]->id, rules[i]->summary);
}

int fw_cmd_rules(int argc, char **argv)
{
	int status = fw_options_parse(&usage, &argc, argv);
	const char *page;

	if (status >= 0)
		return status;
	if (argc > 2)
		return fw_usage_error(&usage, "one rule at a time");
	if (argc < 2) {
		list();
		return 0;
	}
	page = fw_rule_page(argv[1]);
	if (!page)
		return fw_usage_error(&usage, "no rule '%s'; 'fullwarp rules' lists them", argv[1]);
	fputs(page, stdout);
	return 0;
}
