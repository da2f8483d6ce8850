#ifndef FW_TUNE_CANDIDATES_H
#define FW_TUNE_CANDIDATES_H
/*
 * The kernels of a trace: whose they are, and what in their launch says that another one could be faster. Signs and
 * bounds, computed from grid, block and the GPU's size; only measuring tells.
 */
#include "ledger/ledger.h"

enum fw_tune_owner {
	FW_TUNE_OWN, /* nothing in the name says otherwise */
	FW_TUNE_BLAS,
	FW_TUNE_CUDNN,
	FW_TUNE_CUTLASS,
	FW_TUNE_ATTENTION, /* FlashAttention and its like */
	FW_TUNE_TRITON,
	FW_TUNE_COLLECTIVE,
	FW_TUNE_FRAMEWORK, /* PyTorch, TensorFlow, vLLM, CUB, Thrust, ... */
	FW_TUNE_OWNERS
};

struct fw_tune_candidate {
	const struct fw_kernel_row *row;
	enum fw_tune_owner owner;
	double share; /* of the time of all kernels of the device */
	/* Shares, each -1 where it is not known. */
	double empty_sms;       /* of the SMs that get no block */
	double tail;            /* of its time that the last wave's empty places take, at most */
	double idle_lanes;      /* of a block's lanes that have no thread */
	bool has_low_occupancy; /* theoretical, under 50 % */
};

/* By name, mangled or not; any bytes. */
enum fw_tune_owner fw_tune_owner_of(const char *kernel);
const char *fw_tune_owner_name(enum fw_tune_owner owner); /* "cuDNN" */
/* Why its launch is not for us to choose, and what can be done instead; NULL for OWN. */
const char *fw_tune_owner_reason(enum fw_tune_owner owner);

/* The time of all kernels of a device. */
double fw_tune_kernels_ns(const struct fw_device_ledger *device);

/* Of a row of device->kernels; all_ns is fw_tune_kernels_ns. */
struct fw_tune_candidate fw_tune_candidate_of(const struct fw_ledger *ledger,
					      const struct fw_device_ledger *device, size_t row,
					      double all_ns);
bool fw_tune_has_sign(const struct fw_tune_candidate *candidate);

#endif
