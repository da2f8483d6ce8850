/* Any bytes as a kernel's name: shortened, and put on a page of any width. */
#include "report/names.h"
#include "report/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever came in, the page is UTF-8 without control characters. */
static void check(const struct fw_str *out)
{
	const char *text = fw_str_text(out);

	for (size_t i = 0, n; i < out->len; i += n) {
		n = fw_utf8_length(text + i, out->len - i);
		if (!n || ((unsigned char)text[i] < 0x20 && text[i] != '\n'))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_report_style style = { .columns = size ? data[0] : 80, .ascii = size & 1 };
	struct fw_str out = { 0 };
	struct fw_page page;
	char *name;

	if (size > 4096)
		return 0;
	name = malloc(size + 1);
	if (!name)
		return 0;
	if (size)
		memcpy(name, data, size);
	name[size] = '\0';
	fw_page_init(&page, &style, &out);
	fw_page_cell(&page, fw_short_name(&page.arena, name), 30);
	fw_page_item(&page, "label", 10, name);
	fw_page_code(&page, "label", 10, name);
	check(&out);
	fw_page_release(&page);
	fw_str_release(&out);
	free(name);
	return 0;
}
