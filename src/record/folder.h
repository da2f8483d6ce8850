#ifndef FW_RECORD_FOLDER_H
#define FW_RECORD_FOLDER_H
/*
 * The folder of a recording, and the control page in it. Several recorders of one machine may share
 * one: the first makes the page and leads, the others join while one of them is alive, and the last to
 * leave takes the page away.
 */
#include "base/error.h"
#include "base/str.h"
#include "trace/recording_control.h"

#include <stdbool.h>

struct fw_record_folder {
	char *path;                     /* absolute; NULL: there is none */
	int control_fd;                 /* holds a shared lock; -1: none */
	struct fw_rec_control *control; /* mapped; NULL: none */
	uint8_t boot_id[16];
	bool is_leader;
	bool was_made; /* by us */
};

/*
 * Adds the name that a pattern stands for: %r the rank that the launcher gave in the environment, %h
 * the host, %p this process, %% a percent sign. FW_ERR_ARGUMENT: another %, or no rank.
 */
fw_status fw_record_folder_name(struct fw_str *name, const char *pattern, struct fw_error *err);

/* The name where none was given: fullwarp-<program>-<date>-<pid>, in the current folder. */
void fw_record_folder_default(struct fw_str *name, const char *program);

/* The rank by RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID; NULL: none is set. */
const char *fw_record_rank(void);

/*
 * Makes the folder and its page, or joins. FW_ERR_ARGUMENT: it holds other files, or a recording that
 * is over: nothing was changed. FW_ERR_IO: it cannot be made or written. On failure folder holds
 * nothing.
 */
fw_status fw_record_folder_open(struct fw_record_folder *folder, const char *path,
				struct fw_error *err);

/* Whether no other recorder is here any more; from then on none can join. */
bool fw_record_folder_is_last(struct fw_record_folder *folder);

/* Takes the page away, and the folder if it is ours and empty: for the last recorder. */
void fw_record_folder_remove_page(struct fw_record_folder *folder);

/* Lets go of it. */
void fw_record_folder_release(struct fw_record_folder *folder);

#endif
