#ifndef FW_SERVE_WARM_IMAGES_H
#define FW_SERVE_WARM_IMAGES_H
#include "fullwarp/pipeline.h"

/*
 * Drawn pictures through a pipeline that nobody else uses yet, until every decoder and worker has had some: what its own
 * warm-up of the network leaves cold. An error: one of them was not classified.
 */
fw_status fw_warm_images(struct fw_pipeline *pipeline, const struct fw_pipeline_stats *stats,
			 struct fw_error *err);

#endif
