#ifndef FW_TUNE_RECORDED_H
#define FW_TUNE_RECORDED_H
/*
 * A space whose configurations were all measured once, read from a file: our cache, or the public formats of tuning
 * data (a cache file of Kernel Tuner, the T4 results of the auto-tuning community). Searches are tried on it without a
 * GPU. Immutable once read.
 */
#include "tune/search.h"

struct fw_tune_recorded {
	struct fw_tune_space space; /* exactly the configurations of the file */
	double *seconds;            /* by the order of space.keys; negative: failed */
	uint64_t timed, failed;
	double best_s;      /* of all; there is at least one */
	const char *format; /* "fullwarp", "Kernel Tuner" or "T4" */
	char gpu[96];       /* "": the file does not say */
	uint64_t
		left_out; /* lines of our format that are damaged or of other conditions than most */
};

/* FW_ERR_FORMAT: none of the formats, or broken; with the offset. FW_ERR_UNSUPPORTED: nothing in it is timed. */
fw_status fw_tune_recorded_read(const char *path, struct fw_tune_recorded *recorded,
				struct fw_error *err);
/* The same from memory; path is only for messages. */
fw_status fw_tune_recorded_parse(const char *path, const char *text, size_t len,
				 struct fw_tune_recorded *recorded, struct fw_error *err);
void fw_tune_recorded_free(struct fw_tune_recorded *recorded);

/* Of a valid configuration; negative: it failed. */
double fw_tune_recorded_seconds(const struct fw_tune_recorded *recorded,
				const struct fw_tune_config *config);

/* How near a search comes to the optimum: best_s / the best it found, 0 to 1; 0: it found none that runs. */
fw_status fw_tune_simulate(const struct fw_tune_recorded *recorded,
			   const struct fw_tune_search_options *options, double *fraction,
			   struct fw_error *err);

#endif
