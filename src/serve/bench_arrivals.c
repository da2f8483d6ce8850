/* Random times of arrival. */
#include "serve/bench_arrivals.h"

#include "serve/random.h"

#include <math.h>

#define NEVER_S 1e9 /* thirty years: times stay within 64 bits of nanoseconds */

void fw_bench_arrivals_init(struct fw_bench_arrivals *arrivals, int64_t start_ns, double rate,
			    uint64_t seed)
{
	*arrivals = (struct fw_bench_arrivals){
		.start_ns = start_ns,
		.rate = rate,
		.random = seed,
	};
}

int64_t fw_bench_arrivals_next(struct fw_bench_arrivals *arrivals)
{
	/* The inverse of the distribution function; 1 - u is never 0. */
	arrivals->at_s -= log(1 - fw_random_unit(&arrivals->random)) / arrivals->rate;
	if (!(arrivals->at_s < NEVER_S))
		arrivals->at_s = NEVER_S;
	return arrivals->start_ns + (int64_t)(arrivals->at_s * 1e9);
}
