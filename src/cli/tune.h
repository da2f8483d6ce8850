#ifndef FW_CLI_TUNE_H
#define FW_CLI_TUNE_H
/* The parts of fullwarp tune. Each returns the exit code. */
#include "base/str.h"
#include "cli/options.h"
#include "tune/tune.h"

struct fw_tune_arguments {
	bool exhaustive, fresh, init, no_cache, resume, thorough;
	const char *budget, *cache, *device, *format, *from, *jobs, *kernel, *l2, *n, *nvrtc, *plot;
	const char *runs, *seed, *simulate, *strategy, *top;
};

/* What the texts mean; set by fw_tune_settle. */
struct fw_tune_settings {
	uint64_t budget; /* configurations; 0: not given */
	double limit_s;  /* 0: none */
	uint64_t device, jobs, n, runs, seed, top;
	bool flushes_l2, is_json;
};

int fw_tune_command_run(const struct fw_tune_arguments *args,
			const struct fw_tune_settings *settings, const char *source);
int fw_tune_command_init(const struct fw_tune_arguments *args,
			 const struct fw_tune_settings *settings, const char *source);
int fw_tune_command_simulate(const struct fw_tune_arguments *args,
			     const struct fw_tune_settings *settings);
int fw_tune_command_from(const struct fw_tune_arguments *args,
			 const struct fw_tune_settings *settings);

/* Explains a failure on stderr; returns 1. */
int fw_tune_failure(const struct fw_error *err);

/* The specification of a source: of its comment lines, or with --n of its kernel alone. */
fw_status fw_tune_command_spec(const struct fw_tune_arguments *args,
			       const struct fw_tune_settings *settings, const char *source,
			       struct fw_tune_spec *spec, struct fw_error *err);

struct fw_tune_page { /* what the result is written from */
	const struct fw_tune_spec *spec;
	const struct fw_tune_report *report;
	const struct fw_tune_settings *settings;
	const char *cache_path; /* NULL: none */
};

fw_status fw_tune_write_text(const struct fw_tune_page *page, struct fw_str *out,
			     struct fw_error *err);
fw_status fw_tune_write_json(const struct fw_tune_page *page, struct fw_str *out,
			     struct fw_error *err);

#endif
