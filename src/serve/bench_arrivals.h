#ifndef FW_SERVE_BENCH_ARRIVALS_H
#define FW_SERVE_BENCH_ARRIVALS_H
/* Times of a Poisson process: gaps that are exponentially distributed and do not depend on each other. */
#include <stdint.h>

struct fw_bench_arrivals {
	int64_t start_ns;
	double at_s; /* since then */
	double rate; /* a second */
	uint64_t random;
};

/* The same gaps for a seed. rate: over 0. */
void fw_bench_arrivals_init(struct fw_bench_arrivals *arrivals, int64_t start_ns, double rate,
			    uint64_t seed);
int64_t fw_bench_arrivals_next(struct fw_bench_arrivals *arrivals);

#endif
