/* The results of fullwarp doctor: problems with their fix first, then what is not known, then the rest. */
#include "base/json_writer.h"
#include "cli/doctor.h"
#include "cli/terminal.h"
#include "report/page.h"

#include <stdio.h>
#include <string.h>

#define STATUS_WIDTH 9
#define INDENT       34 /* status and id before the message */

const char *fw_doctor_id(const struct fw_doctor_check *check, char id[FW_DOCTOR_ID_BYTES])
{
	snprintf(id, FW_DOCTOR_ID_BYTES, "%s", check->name);
	for (char *p = id; (p = strchr(p, '_'));)
		*p = '-';
	return id;
}

static void put_row(struct fw_page *page, const struct fw_doctor_row *row)
{
	static const enum fw_ink inks[] = { FW_INK_DIM, FW_INK_BOLD, FW_INK_PLAIN };
	char id[FW_DOCTOR_ID_BYTES];

	fw_page_ink(page, inks[row->result.status]);
	fw_page_cell(page, fw_doctor_status_name(row->result.status), STATUS_WIDTH);
	fw_page_ink(page, FW_INK_PLAIN);
	fw_page_cell(page, fw_doctor_id(row->check, id), INDENT - STATUS_WIDTH);
	fw_page_wrap(page, INDENT, INDENT, row->result.message);
	if (*row->result.fix)
		fw_page_item(page, "         fix:", INDENT, row->result.fix);
}

static size_t count_of(const struct fw_doctor_row *rows, size_t count, enum fw_doctor_status status)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += rows[i].result.status == status;
	return n;
}

bool fw_doctor_print_text(const struct fw_doctor_row *rows, size_t count)
{
	static const enum fw_doctor_status order[] = { FW_DOCTOR_PROBLEM, FW_DOCTOR_UNKNOWN,
						       FW_DOCTOR_OK };
	struct fw_report_style style = { .struct_size = sizeof(style),
					 .columns = fw_terminal_columns(),
					 .color = fw_terminal_has_color(),
					 .ascii = !fw_terminal_is_utf8() };
	size_t problems = count_of(rows, count, FW_DOCTOR_PROBLEM);
	size_t unknown = count_of(rows, count, FW_DOCTOR_UNKNOWN);
	struct fw_str out = { 0 };
	struct fw_page page;
	bool is_whole;

	fw_page_init(&page, &style, &out);
	for (size_t s = 0; s < sizeof(order) / sizeof(order[0]); s++)
		for (size_t i = 0; i < count; i++)
			if (rows[i].result.status == order[s])
				put_row(&page, &rows[i]);
	fw_page_printf(&page, "%zu problem%s, %zu not known, %zu ok", problems,
		       problems == 1 ? "" : "s", unknown, count - problems - unknown);
	fw_page_end_line(&page);
	is_whole = !out.failed;
	if (is_whole)
		fputs(fw_str_text(&out), stdout);
	fw_page_release(&page);
	fw_str_release(&out);
	return is_whole;
}

bool fw_doctor_print_json(const struct fw_doctor_row *rows, size_t count)
{
	struct fw_str out = { 0 };
	struct fw_json json = { .out = &out, .indent = 2 };
	char id[FW_DOCTOR_ID_BYTES];
	bool is_whole;

	fw_json_begin_object(&json, NULL);
	fw_json_int(&json, "schema", 1);
	fw_json_begin_array(&json, "checks");
	for (size_t i = 0; i < count; i++) {
		fw_json_begin_object(&json, NULL);
		fw_json_string(&json, "id", fw_doctor_id(rows[i].check, id));
		fw_json_string(&json, "status", fw_doctor_status_name(rows[i].result.status));
		fw_json_string(&json, "message", rows[i].result.message);
		fw_json_string(&json, "fix", *rows[i].result.fix ? rows[i].result.fix : NULL);
		fw_json_end_object(&json);
	}
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(&out, '\n');
	is_whole = !out.failed;
	if (is_whole)
		fputs(fw_str_text(&out), stdout);
	fw_str_release(&out);
	return is_whole;
}
