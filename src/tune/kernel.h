#ifndef FW_TUNE_KERNEL_H
#define FW_TUNE_KERNEL_H
/* A configuration's kernel, loaded: launched alone or as a graph of many launches. */
#include "tune/buffers.h"

struct fw_tune_kernel {
	void *module, *function;
	struct fw_tune_launch launch;
	struct fw_tune_parameters parameters;
	void *graph;       /* of several launches; NULL: none */
	unsigned launches; /* of one sample */
	bool is_warm;      /* warmed up, and launches chosen */
	bool settles; /* one launch goes before each sample: what the L2 holds is then its own */
};

struct fw_tune_kernel_source {
	const void *cubin;
	const char *name; /* mangled */
	struct fw_tune_launch launch;
	const struct fw_tune_config *config;
};

/* Unload also after a failure. */
fw_status fw_tune_kernel_load(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
			      const struct fw_tune_buffers *buffers,
			      const struct fw_tune_kernel_source *source, struct fw_error *err);
void fw_tune_kernel_unload(struct fw_tune_kernel *kernel, struct fw_tune_device *device);

/* Queues one launch. */
fw_status fw_tune_kernel_launch(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				struct fw_error *err);

/* Makes launches the number of one sample: more than one become a graph. */
fw_status fw_tune_kernel_repeat(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				unsigned launches, struct fw_error *err);

/* Queues a sample's launches. */
fw_status fw_tune_kernel_launch_all(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				    struct fw_error *err);

#endif
