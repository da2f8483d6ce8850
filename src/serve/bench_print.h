#ifndef FW_SERVE_BENCH_PRINT_H
#define FW_SERVE_BENCH_PRINT_H
/* The result of a measurement for people and for programs. */
#include "base/json_writer.h"
#include "base/str.h"
#include "serve/bench.h"

struct fw_bench_page {
	const struct fw_bench_job *job;
	const struct fw_bench_result *result;
	const struct fw_bench_images *images;
	const struct fw_bench_picture *drawn; /* NULL: they are files */
};

void fw_bench_text(struct fw_str *out, const struct fw_bench_page *page);
void fw_bench_json(struct fw_str *out, const struct fw_bench_page *page);

/* Usable cores; what CPU figures are to be seen beside. */
unsigned fw_bench_cores(void);

#endif
