#ifndef FW_LEDGER_BUILD_H
#define FW_LEDGER_BUILD_H
/* The steps of fw_ledger_build, in their order; each fills a part of the ledger. */
#include "ledger/ledger_private.h"

/* What the name of a call says. */
enum fw_name_flag {
	FW_NAME_READ = 1,
	FW_NAME_SYNC = 2,
	FW_NAME_COPY = 4,
	FW_NAME_ASYNC = 8,
	FW_NAME_ONE_TIME = 16,
	FW_NAME_ALLOC = 32,
	FW_NAME_MOVES = 64, /* a copy or launch: a slow first call of it is not start-up work */
	FW_NAME_GRAPH = 128 /* launches a graph */
};

/* What the steps share and the ledger does not keep. */
struct fw_build {
	const struct fw_trace *trace;
	const struct fw_ledger_options *options;
	struct fw_ledger *ledger;
	struct fw_error *err;
	uint8_t *name_flags;  /* one a string; read for names of calls */
	uint8_t *is_pageable; /* calls whose id a copy of pageable memory carries */
	uint32_t *call_of_op;
	uint32_t *nth_of_op;
	uint8_t *call_class;
	uint8_t *op_flags;
};

/*
 * Moves the elements of a vector, which is empty afterwards, into the ledger, without the spare room;
 * NULL when memory is out. Never NULL otherwise.
 */
void *fw_keep(struct fw_build *b, struct fw_vec *vec);

/* names.c */
uint8_t fw_name_flags(const char *name);

/* devices.c: which devices there are, the operations of each in their orders. */
fw_status fw_build_devices(struct fw_build *b);
fw_status fw_build_orders(struct fw_build *b);

/* join.c: the launch call of each operation. */
fw_status fw_build_join(struct fw_build *b);

/* threads.c: classes of calls; what each thread was doing. */
fw_status fw_build_threads(struct fw_build *b);

/* timeline.c: the class of a range that can own time, or FW_CLASS_COUNT; false: memory is out. */
enum fw_class fw_range_class(uint8_t kind);
bool fw_build_timelines(struct fw_build *b);

/* blind.c: when the device's processes were not recorded. */
fw_status fw_build_blind(struct fw_build *b);

/* totals.c: whole-trace figures. */
fw_status fw_build_totals(struct fw_build *b);

/* window.c */
fw_status fw_build_windows(struct fw_build *b);

/* gaps.c: the owner of every nanosecond of the window. */
fw_status fw_build_classes(struct fw_build *b, struct fw_device_ledger *device);

#endif
