/* Takes samples: several launches between two events, in rounds over the kernels, while the clock stands still. */
#include "tune/sample.h"

#include "tune/process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_S     200e-6 /* events resolve about half a microsecond */
#define MAX_LAUNCHES 256u
#define WARM_S       0.2
#define WARM_ROUNDS  25u
#define WARM_AGREES  0.02
#define CLOCK_AGREES 0.03
#define MORE_TRIES                                                                                 \
	4u /* samples of a kernel that may be thrown away, besides as many as were asked for */
/* A reading that takes longer than so many ns serves again until so many times what it took have passed. */
#define CLOCK_DEAR  1000000
#define CLOCK_SHARE 5
#define MAX_INOUT   ((uint64_t)64 << 10)
#define BUSY_S      0.5
/* Shorter kernels are launched once before a sample: reading an L2 of 60 MB anew takes 1 % of this. */
#define SETTLE_S 2e-3
/* The GPU waits so many cycles, 20 us, while the launches behind it are queued: none of them is late. */
#define QUEUE_CYCLES 40000u

/* What has to happen before the first event. */
static fw_status queue_before(const struct fw_tune_sampler *sampler, struct fw_tune_kernel *kernel,
			      struct fw_error *err)
{
	struct fw_tune_device *device = sampler->device;
	unsigned long long cycles = QUEUE_CYCLES;
	void *parameters[] = { &cycles };
	fw_status status = fw_tune_buffers_restore(sampler->buffers, device, false, err);

	if (status)
		return status;
	if (sampler->is_flushing && device->flush)
		FW_TUNE_TRY(device,
			    device->cuda.memset_async(device->flush, 0, 2 * device->gpu.l2_bytes,
						      device->stream),
			    "cuMemsetD8Async");
	else if (kernel->settles)
		status = fw_tune_kernel_launch(kernel, device, err);
	if (status)
		return status;
	FW_TUNE_TRY(device,
		    device->cuda.launch_kernel(device->wait, 1, 1, 1, 1, 1, 1, 0, device->stream,
					       parameters, NULL),
		    "cuLaunchKernel of the wait");
	return FW_OK;
}

/* One sample: the time of one of its launches. */
static fw_status measure(const struct fw_tune_sampler *sampler, struct fw_tune_kernel *kernel,
			 double *seconds, struct fw_error *err)
{
	struct fw_tune_device *device = sampler->device;
	float ms = 0;
	fw_status status;

	fw_tune_device_allow(device, BUSY_S);
	status = queue_before(sampler, kernel, err);
	if (status)
		return status;
	FW_TUNE_TRY(device, device->cuda.event_record(device->start, device->stream),
		    "cuEventRecord");
	status = fw_tune_kernel_launch_all(kernel, device, err);
	if (status)
		return status;
	FW_TUNE_TRY(device, device->cuda.event_record(device->stop, device->stream),
		    "cuEventRecord");
	FW_TUNE_TRY(device, device->cuda.event_synchronize(device->stop), "cuEventSynchronize");
	FW_TUNE_TRY(device, device->cuda.event_elapsed_time(&ms, device->start, device->stop),
		    "cuEventElapsedTime");
	*seconds = (double)ms * 1e-3 / kernel->launches;
	return FW_OK;
}

/* So many launches that a sample takes SAMPLE_S; short kernels take less time in a row than alone. */
static fw_status choose_launches(const struct fw_tune_sampler *sampler,
				 struct fw_tune_kernel *kernel, double *seconds,
				 struct fw_error *err)
{
	fw_status status = measure(sampler, kernel, seconds, err);

	if (status || sampler->is_flushing || sampler->buffers->inout_bytes > MAX_INOUT)
		return status;
	kernel->settles = *seconds < SETTLE_S;
	for (unsigned attempt = 0; !status && attempt < 2; attempt++) {
		double want = *seconds > 0 ? ceil(SAMPLE_S / *seconds) : MAX_LAUNCHES;
		unsigned launches = want > MAX_LAUNCHES ? MAX_LAUNCHES : (unsigned)want;

		if (launches <= kernel->launches + kernel->launches / 4)
			break;
		status = fw_tune_kernel_repeat(kernel, sampler->device, launches, err);
		if (!status)
			status = measure(sampler, kernel, seconds, err);
	}
	return status;
}

static fw_status warm_up(const struct fw_tune_sampler *sampler, struct fw_tune_kernel *kernel,
			 struct fw_error *err)
{
	int64_t end = fw_tune_now() + (int64_t)(WARM_S * 1e9);
	unsigned rounds = 0;
	double before, now;
	fw_status status = choose_launches(sampler, kernel, &now, err);

	if (status)
		return status;
	do {
		before = now;
		status = measure(sampler, kernel, &now, err);
	} while (!status && fabs(now - before) > WARM_AGREES * before && ++rounds < WARM_ROUNDS &&
		 fw_tune_now() < end);
	kernel->is_warm = !status;
	return status;
}

static int by_value(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static unsigned median(const unsigned *values, unsigned n)
{
	unsigned sorted[FW_TUNE_MAX_SAMPLES];

	if (!n)
		return 0;
	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return sorted[n / 2];
}

/* Reads the clock, unless that was done just now. Whether it is the usual one and nothing holds it down. */
static bool is_steady(struct fw_tune_sampler *sampler)
{
	unsigned n = sampler->n_clocks < FW_TUNE_CLOCKS ? sampler->n_clocks : FW_TUNE_CLOCKS;
	int64_t now = fw_tune_now();
	double usual;

	if (!sampler->read_ns || sampler->cost_ns < CLOCK_DEAR ||
	    now - sampler->read_ns > CLOCK_SHARE * sampler->cost_ns) {
		int64_t before = sampler->read_ns;

		sampler->clock = fw_tune_device_clock(sampler->device, &sampler->is_throttled);
		sampler->read_ns = fw_tune_now();
		if (!before || sampler->read_ns - now < sampler->cost_ns)
			sampler->cost_ns = sampler->read_ns - now;
	}
	if (!sampler->clock)
		return true;
	usual = n ? median(sampler->clocks, n) : sampler->clock;
	sampler->clocks[sampler->n_clocks++ % FW_TUNE_CLOCKS] = sampler->clock;
	return !sampler->is_throttled && fabs(sampler->clock - usual) <= CLOCK_AGREES * usual;
}

/* What a kernel has besides its samples while they are taken. */
struct progress {
	unsigned clocks[FW_TUNE_MAX_SAMPLES]; /* of the samples kept */
	unsigned tries_left;
};

/* One sample that counts; those of an unsteady clock are taken again while there are tries left. */
static fw_status take(struct fw_tune_sampler *sampler, struct fw_tune_kernel *kernel,
		      struct fw_tune_samples *samples, struct progress *progress,
		      struct fw_error *err)
{
	double seconds;
	bool is_good;

	do {
		fw_status status = measure(sampler, kernel, &seconds, err);

		if (status)
			return status;
		is_good = is_steady(sampler);
		samples->discarded += !is_good && progress->tries_left;
	} while (!is_good && progress->tries_left && progress->tries_left--);
	samples->unsteady += !is_good;
	progress->clocks[samples->n] = sampler->clock;
	samples->seconds[samples->n++] = seconds;
	return FW_OK;
}

/* An error of one kernel ends that one; an error of the whole context is the caller's. */
static fw_status settle(const struct fw_tune_sampler *sampler, struct fw_tune_samples *samples,
			const struct fw_error *error)
{
	samples->status = FW_TUNE_LAUNCH_FAILED;
	snprintf(samples->reason, sizeof(samples->reason), "%.*s", FW_TUNE_REASON_BYTES - 1,
		 error->message);
	return fw_tune_device_is_lost(sampler->device) ? FW_ERR_IO : FW_OK;
}

fw_status fw_tune_sample(struct fw_tune_sampler *sampler, struct fw_tune_kernel **kernels,
			 const uint32_t *slots, struct fw_tune_samples *samples, uint32_t n_kernels,
			 uint32_t n, struct fw_error *err)
{
	struct progress *progress = calloc(n_kernels ? n_kernels : 1, sizeof(*progress));
	struct fw_error error = { 0 };
	fw_status status = FW_OK;

	if (!progress)
		return fw_fail_nomem(err, n_kernels * sizeof(*progress));
	n = n < FW_TUNE_MAX_SAMPLES ? n : FW_TUNE_MAX_SAMPLES;
	for (uint32_t i = 0; i < n_kernels; i++)
		progress[i].tries_left = n + MORE_TRIES;
	for (uint32_t round = 0; !status && round < n; round++)
		for (uint32_t i = 0; !status && i < n_kernels; i++) {
			if (samples[i].status)
				continue;
			atomic_store(&sampler->device->watch->slot, slots[i]);
			if (!kernels[i]->is_warm)
				status = warm_up(sampler, kernels[i], &error);
			if (!status)
				status = take(sampler, kernels[i], &samples[i], &progress[i],
					      &error);
			if (status)
				status = settle(sampler, &samples[i], &error);
		}
	for (uint32_t i = 0; i < n_kernels; i++)
		samples[i].clock_mhz = median(progress[i].clocks, samples[i].n);
	free(progress);
	return status ? fw_fail(err, status, "%s", error.message) : FW_OK;
}
