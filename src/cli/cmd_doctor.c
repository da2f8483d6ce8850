/* fullwarp doctor: the environment, before any profile is taken. */
#include "cli/cmd.h"
#include "cli/doctor.h"
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	bool strict, list, smoke;
	const char *format, *only, *program, *root, *nvml;
};

static const char about[] =
	"Is this machine, or container, fit for work on its GPU? Each check says ok, problem and\n"
	"fix, or unknown: why it could not look. Exit code: 0 no problem, 1 a problem (with\n"
	"--strict an unknown too), 2 bad usage.\n";

/* A list of ids separated by commas names the check; NULL names all. */
static bool is_named(const char *list, const char *id)
{
	size_t len = strlen(id);

	for (const char *p = list; p && *p;
	     p += p[strcspn(p, ",")] ? strcspn(p, ",") + 1 : strlen(p))
		if (!strncmp(p, id, len) && (!p[len] || p[len] == ','))
			return true;
	return false;
}

static bool is_id(const char *text, size_t len)
{
	size_t count;
	const struct fw_doctor_check *checks = fw_doctor_checks(&count);
	char id[FW_DOCTOR_ID_BYTES];

	for (size_t i = 0; i < count; i++)
		if (strlen(fw_doctor_id(&checks[i], id)) == len && !memcmp(id, text, len))
			return true;
	return false;
}

/* -1: go on, 2: a mistake, explained. */
static int check_arguments(const struct fw_usage *usage, const struct arguments *args)
{
	if (strcmp(args->format, "text") && strcmp(args->format, "json"))
		return fw_usage_error(usage, "--format is text or json, not '%s'", args->format);
	for (const char *p = args->only; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		size_t len = strcspn(p, ",");

		if (!is_id(p, len))
			return fw_usage_error(usage, "--only: no check '%.*s'; --list lists them",
					      (int)len, p);
	}
	return -1;
}

static int list_checks(void)
{
	size_t count;
	const struct fw_doctor_check *checks = fw_doctor_checks(&count);
	char id[FW_DOCTOR_ID_BYTES];

	for (size_t i = 0; i < count; i++)
		printf("%-24s %s\n", fw_doctor_id(&checks[i], id), checks[i].looks);
	return 0;
}

static bool is_wanted(const struct fw_doctor_check *check, const struct arguments *args)
{
	char id[FW_DOCTOR_ID_BYTES];

	if (args->only)
		return is_named(args->only, fw_doctor_id(check, id));
	return check->when == FW_DOCTOR_ALWAYS || (check->when == FW_DOCTOR_FOR && args->program) ||
	       (check->when == FW_DOCTOR_SMOKE && args->smoke);
}

/* The exit code. */
static int run_checks(struct fw_host *host, const struct arguments *args)
{
	size_t count, used = 0;
	const struct fw_doctor_check *checks = fw_doctor_checks(&count);
	struct fw_doctor_row *rows = calloc(count, sizeof(*rows));
	bool is_printed = false;
	int code = 0;

	for (size_t i = 0; rows && i < count; i++) {
		if (!is_wanted(&checks[i], args))
			continue;
		rows[used].check = &checks[i];
		fw_doctor_run(&checks[i], host, &rows[used].result);
		if (rows[used].result.status == FW_DOCTOR_PROBLEM ||
		    (args->strict && rows[used].result.status == FW_DOCTOR_UNKNOWN))
			code = 1;
		used++;
	}
	if (rows)
		is_printed = strcmp(args->format, "json") ? fw_doctor_print_text(rows, used)
							  : fw_doctor_print_json(rows, used);
	free(rows);
	if (!is_printed)
		fprintf(stderr, "fullwarp doctor: out of memory\n");
	return is_printed ? code : 1;
}

static int examine(const struct arguments *args)
{
	struct fw_host host;
	struct fw_error err;
	fw_status status = fw_host_open(&host, args->root, &err);
	int code = 1;

	host.program = args->program;
	/* NVML answers for this machine, not for a root that was copied from another. */
	if (!status && (!host.is_other || args->nvml))
		status = fw_gpus_ask(&host.gpus, args->nvml, &err);
	if (status)
		fprintf(stderr, "fullwarp doctor: %s\n", err.message);
	else
		code = run_checks(&host, args);
	fw_gpus_release(&host.gpus);
	fw_host_close(&host);
	return code;
}

int fw_cmd_doctor(int argc, char **argv)
{
	struct arguments args = { .format = "text" };
	const struct fw_option options[] = {
		{ 'f', "format", "FORMAT", "text (the default) or json", NULL, &args.format },
		{ 0, "for", "PROGRAM",
		  "check the versions of this program: python, an interpreter's path, a binary or "
		  "wheel",
		  NULL, &args.program },
		{ 0, "list", NULL, "list the checks and what they look at", &args.list, NULL },
		{ 0, "nvml", "FILE", "ask this library instead of libnvidia-ml.so.1", NULL,
		  &args.nvml },
		{ 0, "only", "ID,...", "run these checks alone", NULL, &args.only },
		{ 0, "root", "DIR", "look at the files below DIR instead of /", NULL, &args.root },
		{ 0, "smoke", NULL, "try the first GPU for a second: context, copies, launches",
		  &args.smoke, NULL },
		{ 0, "strict", NULL, "what could not be looked at counts as a problem",
		  &args.strict, NULL },
	};
	const struct fw_usage usage = { .command = "doctor",
					.operands = "",
					.about = about,
					.options = options,
					.count = sizeof(options) / sizeof(options[0]) };
	int status = fw_options_parse(&usage, &argc, argv);

	if (status >= 0)
		return status;
	if (argc > 1)
		return fw_usage_error(&usage, "it takes no operand: '%s'", argv[1]);
	status = check_arguments(&usage, &args);
	if (status >= 0)
		return status;
	return args.list ? list_checks() : examine(&args);
}
