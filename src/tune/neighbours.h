#ifndef FW_TUNE_NEIGHBOURS_H
#define FW_TUNE_NEIGHBOURS_H
/* The configurations around one: what differs in one parameter, or by a step in two. */
#include "tune/strategy.h"

struct fw_tune_climb {      /* steps to better neighbours; release keys with fw_vec_release */
	struct fw_vec keys; /* uint64_t: neighbours of the place to ask yet, the next one last */
	uint64_t place;
	double seconds;     /* of the place */
	size_t batch_first; /* record of the batch that is asked now */
	uint32_t batch;     /* keys asked of it */
	bool is_active;
};

/* Starts at a record that is timed. False: memory is out. */
bool fw_tune_climb_start(struct fw_tune_climb *climb, struct fw_tune_search *search,
			 const struct fw_tune_record *from);
/*
 * The next neighbour; moves on when all that was asked is told and one of it was better. END: the place is better than
 * all its neighbours.
 */
enum fw_tune_step fw_tune_climb_next(struct fw_tune_climb *climb, struct fw_tune_search *search,
				     uint64_t *key);

#endif
