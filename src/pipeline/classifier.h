#ifndef FW_PIPELINE_CLASSIFIER_H
#define FW_PIPELINE_CLASSIFIER_H
/* What the flow does to an image: decode it, make it the network's input, run the network, take the best classes. */
#include "pipeline/flow.h"
#include "pipeline/settings.h"

struct fw_classifier;

/* config was checked. The model and its network are shared by all workers. */
fw_status fw_classifier_open(const struct fw_pipeline_config *config,
			     struct fw_classifier **classifier, struct fw_error *err);
void fw_classifier_close(struct fw_classifier *classifier);

/* work->user is the classifier. */
void fw_classifier_work(struct fw_classifier *classifier, struct fw_flow_work *work);

const struct fw_pipeline_settings *fw_classifier_settings(const struct fw_classifier *classifier);
/* Workers and decoding threads, where options has 0; the GPU's workers in any case. */
void fw_classifier_choose(const struct fw_classifier *classifier, struct fw_flow_options *options);
void fw_classifier_explain(const struct fw_classifier *classifier,
			   const struct fw_pipeline_stats *stats,
			   void (*line)(void *user, const char *text), void *user);
size_t fw_classifier_cell_bytes(const struct fw_classifier *classifier);

/* classes, resize, crop, weight_bytes, what runs; worker_bytes and decoder_bytes of stats->workers and stats->decode_threads. */
void fw_classifier_add_stats(const struct fw_classifier *classifier,
			     struct fw_pipeline_stats *stats);

#endif
