#ifndef FW_NN_MAPPING_H
#define FW_NN_MAPPING_H
/* Files of external data, mapped for as long as the graph lives. */
#include "base/file.h"
#include "nn/graph.h"

struct fw_nn_mapping {
	struct fw_nn_mapping *next;
	const char *location; /* as the model names it */
	struct fw_file file;
};

/*
 * The file at location below folder, mapped once. FW_ERR_FORMAT: a location that leads out of the folder, also by a
 * symbolic link. LIMIT: a file that shrinks while it is mapped ends the program, as with every mapped file.
 */
fw_status fw_nn_mapping_open(struct fw_nn_graph *graph, const char *folder, const char *location,
			     const struct fw_file **file, struct fw_error *err);
void fw_nn_mappings_close(struct fw_nn_graph *graph);

#endif
