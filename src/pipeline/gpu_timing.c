/* How fast workers are. */
#include "pipeline/gpu_timing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIAL_NS  INT64_C(60000000)
#define MIN_RUNS  3    /* however long they take */
#define GOOD_RATE 0.97 /* of the best: less is not worth another worker's memory */

struct lane {
	pthread_t thread;
	struct fw_gpu_worker *worker;
	const struct fw_samples *samples;
	struct fw_sample_run *run;
	uint32_t size, batches;
	int64_t wall_ns, cpu_ns;
	bool spins;
	fw_status status;
	struct fw_error err;
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *run_lane(void *argument)
{
	struct lane *l = argument;
	int64_t wall, cpu;

	/* The first brings the clocks of the GPU up, and is not counted. */
	l->status = fw_sample_run_compute(l->run, l->worker, l->samples, l->size, l->size, &l->err);
	wall = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	while (!l->status && (l->batches < MIN_RUNS || l->wall_ns < TRIAL_NS)) {
		l->status = fw_sample_run_compute(l->run, l->worker, l->samples, l->size, l->size,
						  &l->err);
		l->batches++;
		l->wall_ns = now_ns(CLOCK_MONOTONIC) - wall;
	}
	l->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return NULL;
}

static void sum_up(const struct lane *lanes, struct fw_gpu_trial *trial)
{
	double ms = 0;

	trial->images_s = trial->cores = 0;
	for (uint32_t i = 0; i < trial->workers; i++) {
		double s = (double)(lanes[i].wall_ns + 1) / 1e9;

		trial->images_s += lanes[i].batches * (double)trial->size / s;
		trial->cores += (double)lanes[i].cpu_ns / 1e9 / s;
		ms += s * 1e3 / lanes[i].batches;
	}
	trial->batch_ms = ms / trial->workers;
}

/* All at once, but for the moments between the starts of their threads. */
static fw_status run_lanes(struct lane *lanes, struct fw_gpu_trial *trial, struct fw_error *err)
{
	uint32_t started = 0;
	int code = 0;

	for (uint32_t i = 1; i < trial->workers && !code; i++) {
		code = pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]);
		started += !code;
	}
	run_lane(&lanes[0]);
	for (uint32_t i = 1; i <= started; i++)
		pthread_join(lanes[i].thread, NULL);
	if (code)
		return fw_fail(err, FW_ERR_IO, "cannot start a thread to time the GPU: %s",
			       strerror(code));
	for (uint32_t i = 0; i < trial->workers; i++)
		if (lanes[i].status) {
			if (err)
				*err = lanes[i].err;
			return lanes[i].status;
		}
	sum_up(lanes, trial);
	return FW_OK;
}

fw_status fw_gpu_time(const struct fw_classifier *c, struct fw_gpu_worker *const *workers,
		      const struct fw_samples *samples, struct fw_gpu_trial *trial,
		      struct fw_error *err)
{
	struct lane *lanes = calloc(trial->workers, sizeof(*lanes));
	fw_status status = lanes ? FW_OK : fw_fail_nomem(err, trial->workers * sizeof(*lanes));

	for (uint32_t i = 0; i < trial->workers && !status; i++) {
		lanes[i] = (struct lane){ .worker = workers[i],
					  .samples = samples,
					  .size = trial->size };
		fw_gpu_worker_spin(workers[i], trial->spins);
		status = fw_sample_run_open(c, &lanes[i].run, err);
	}
	if (!status)
		status = run_lanes(lanes, trial, err);
	for (uint32_t i = 0; lanes && i < trial->workers; i++) {
		fw_gpu_worker_spin(workers[i], false);
		fw_sample_run_close(lanes[i].run);
	}
	free(lanes);
	return status;
}

uint32_t fw_gpu_fewest(const struct fw_gpu_trial *trials, uint32_t n, uint32_t size)
{
	uint32_t fewest = 0;
	double best = 0;

	for (uint32_t i = 0; i < n; i++)
		if (trials[i].size == size && !trials[i].spins && trials[i].images_s > best)
			best = trials[i].images_s;
	for (uint32_t i = 0; i < n; i++)
		if (trials[i].size == size && !trials[i].spins &&
		    trials[i].images_s >= GOOD_RATE * best &&
		    (!fewest || trials[i].workers < fewest))
			fewest = trials[i].workers;
	return fewest;
}
