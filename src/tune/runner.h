#ifndef FW_TUNE_RUNNER_H
#define FW_TUNE_RUNNER_H
/*
 * The GPU's owner: a process of its own that loads cubins, prepares arguments, checks outputs and takes samples. If it
 * dies (illegal address) or hangs (watchdog), the configuration in hand is failed with the reason and a fresh process
 * takes over. The parent never touches the CUDA driver.
 */
#include "tune/compile.h"

struct fw_tune_runner;

struct fw_tune_runner_options {
	unsigned device; /* CUDA ordinal */
	bool flushes_l2; /* between samples, outside the events */
	double hang_s; /* a launch that takes longer is hung; fw_tune_runner_set_hang changes it */
	uint64_t seed; /* of the random inputs */
	const char *
		nvrtc_path; /* compiles the kernel that compares outputs; NULL: looked for as the compiler does */
};

struct fw_tune_gpu { /* what the runner found */
	char name[96];
	char uuid[48];
	unsigned cc, sms, driver_version;
	uint64_t l2_bytes;
};

/* Starts the process: forks, so open it while the process has one thread. spec must outlive it. */
fw_status fw_tune_runner_open(const struct fw_tune_spec *spec,
			      const struct fw_tune_runner_options *options,
			      struct fw_tune_runner **runner, struct fw_tune_gpu *gpu,
			      struct fw_error *err);
/*
 * Runs the reference (or, where object is the default configuration, that) once on poisoned outputs and keeps its outputs.
 * sizes NULL: the spec's own.
 */
fw_status fw_tune_runner_set_reference(struct fw_tune_runner *runner,
				       const struct fw_tune_object *object, const int64_t *sizes,
				       struct fw_error *err);
/* From now on a launch that takes longer is hung. */
void fw_tune_runner_set_hang(struct fw_tune_runner *runner, double hang_s);
/* Loads, checks the output; result->status and reason say what came of it. The object stays loaded for sampling as slot. */
fw_status fw_tune_runner_check(struct fw_tune_runner *runner, const struct fw_tune_object *object,
			       uint32_t slot, struct fw_tune_result *result, struct fw_error *err);
/*
 * How samples are taken: one is the time between two events around m launches, m such that they take 200 us: as a CUDA
 * graph of m launches (m > 1) or one plain launch. With flushes_l2, or in/out buffers longer than 64 KB, m is 1; in/out
 * buffers are restored before each sample, not between the launches of one. A slot's first samples come after a warm-up
 * until two in a row agree within 2 %, or 25 of them, or 200 ms.
 */
/* n more samples of each of the slots, interleaved in rounds; appended to results[i] (clock watch included). */
fw_status fw_tune_runner_sample(struct fw_tune_runner *runner, const uint32_t *slots,
				struct fw_tune_result **results, uint32_t n_slots, uint32_t n,
				struct fw_error *err);
void fw_tune_runner_drop(struct fw_tune_runner *runner, uint32_t slot);
void fw_tune_runner_close(struct fw_tune_runner *runner);

#endif
