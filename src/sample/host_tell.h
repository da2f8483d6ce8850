#ifndef FW_SAMPLE_HOST_TELL_H
#define FW_SAMPLE_HOST_TELL_H
/* Passes on what changed: see host_sampler.h on how. */
#include "sample/host_sampler.h"

/* A value as it was last read and told. */
struct fw_told {
	double value;
	int64_t read_ns, told_ns;
	bool is_told;
};

/* Of whom the readings are, and when they were taken. */
struct fw_teller {
	const struct fw_host_sink *sink;
	int64_t now_ns;
	unsigned pid, tid;
};

/* told: FW_HOST_VALUE_COUNT of them, of the same pid and tid each time. */
void fw_tell(const struct fw_teller *teller, struct fw_told *told, enum fw_host_value which,
	     double value);

/* A value that was not read since, but cannot have changed until then. */
void fw_told_hold(struct fw_told *told, int64_t until_ns);

/* Tells until when the values held that were read last. */
void fw_tell_end(const struct fw_teller *teller, struct fw_told *told);

#endif
