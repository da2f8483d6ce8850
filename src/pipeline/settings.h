#ifndef FW_PIPELINE_SETTINGS_H
#define FW_PIPELINE_SETTINGS_H
/* struct fw_pipeline_config, checked, and its words and zeros made into values. */
#include "fullwarp/pipeline.h"
#include "nn/plan.h"

/* Who decodes JPEGs: the decoding threads; nvJPEG what it takes; nvJPEG what it takes while it is not busy. */
enum fw_decoder_choice { FW_DECODER_CPU, FW_DECODER_NVJPEG, FW_DECODER_AUTO };

struct fw_pipeline_settings {
	bool is_gpu;
	enum fw_nn_precision precision;
	bool is_pageable, is_blocking, fuse, graph;
	enum fw_decoder_choice decoder;
	uint32_t n_sizes, sizes[FW_PIPELINE_MAX_BATCH]; /* batch sizes to prepare, ascending */
};

/* FW_ERR_ARGUMENT: a value that no engine takes. */
fw_status fw_settings_check(const struct fw_pipeline_config *config, struct fw_error *err);

/* The engine is chosen. FW_ERR_ARGUMENT: a value that it does not take. config was checked. */
fw_status fw_settings_resolve(const struct fw_pipeline_config *config, bool is_gpu,
			      struct fw_pipeline_settings *settings, struct fw_error *err);

/* The words of what was resolved, for the stats. */
void fw_settings_tell(const struct fw_pipeline_settings *settings, struct fw_pipeline_stats *stats);

#endif
