#ifndef FW_RECORD_TICKER_H
#define FW_RECORD_TICKER_H
/* A thread that calls a function at a steady interval while the recording is wanted. */
#include "base/error.h"
#include "trace/recording_control.h"

#include <stdbool.h>
#include <stdint.h>

struct fw_record_ticker;

/* What a sampler does, all of it in the ticker's thread. */
struct fw_record_sampler {
	void *user;
	int64_t interval_ns;
	/* Once, before the first tick: it may take seconds. False: there will be no tick. */
	bool (*begin)(void *user);
	/* A tick that is late by more than an interval is left out. */
	void (*tick)(void *user, int64_t now_mono);
	/* Nothing was recorded in between, as asked for. */
	void (*paused)(void *user, int64_t start_mono, int64_t end_mono);
	void (*end)(void *user); /* after begin, whatever it returned */
};

/*
 * Starts the thread. user belongs to it until fw_record_ticker_stop returns true, and control must live
 * as long.
 */
fw_status fw_record_ticker_start(struct fw_record_ticker **ticker,
				 const struct fw_record_sampler *sampler,
				 const struct fw_rec_control *control, struct fw_error *err);

/*
 * Ends the thread after what it does now. False: it still did that after three seconds, as when a driver
 * hangs: ticker and user are left to it, and it no longer looks at control. NULL is accepted.
 */
bool fw_record_ticker_stop(struct fw_record_ticker *ticker);

#endif
