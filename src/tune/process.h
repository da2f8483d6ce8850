#ifndef FW_TUNE_PROCESS_H
#define FW_TUNE_PROCESS_H
/*
 * A child process and the messages between it and its parent. The child dies with its parent, leaves no core file, and
 * what it or a library in it prints is kept for the reason of its end. One thread.
 */
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fw_tune_process {
	pid_t pid; /* 0: none */
	int fd;    /* the parent's end of the socket */
	int log;   /* what it printed */
};

/* Runs in the child, which ends when it returns. Other descriptors than fd, 0, 1 and 2 are closed. */
typedef void fw_tune_process_main(int fd, void *user);

fw_status fw_tune_process_start(struct fw_tune_process *process, fw_tune_process_main *run,
				void *user, struct fw_error *err);

/* Forgets what was printed so far; the child calls it before each job. */
void fw_tune_process_clear_log(void);

/*
 * Kills it if it lives, waits for its end and says in how what it was: "signal 11 (Segmentation fault): last line that
 * it printed". False: it did not end within 30 s (a driver holds it); it is left to itself.
 */
bool fw_tune_process_end(struct fw_tune_process *process, char *how, size_t how_bytes);

/* CLOCK_MONOTONIC, ns. */
int64_t fw_tune_now(void);

#define FW_TUNE_MAX_MESSAGE (UINT64_C(256) << 20)

struct fw_tune_message {
	uint32_t type;
	size_t bytes;
	unsigned char *data; /* owned; NULL if bytes is 0 */
	size_t at;           /* of the next fw_tune_message_take */
	bool is_short;       /* more was taken than there is */
};

enum fw_tune_received { FW_TUNE_RECEIVED, FW_TUNE_ENDED, FW_TUNE_TIMED_OUT };

/* Waits until deadline_ns; 0: for ever. Anything but a whole message of an allowed length is an end. */
enum fw_tune_received fw_tune_receive(int fd, int64_t deadline_ns, struct fw_tune_message *message);
void fw_tune_message_release(struct fw_tune_message *message);

/* False: the other side is gone, or has not read for 30 s. */
bool fw_tune_send(int fd, uint32_t type, const struct fw_str *payload);

/* The next bytes into to; false, and to zeroed, where there are fewer. */
bool fw_tune_message_take(struct fw_tune_message *message, void *to, size_t bytes);
/* A length and as many bytes; the pointer lives as long as the message; *bytes 0 and NULL: none or damaged. */
const void *fw_tune_message_take_block(struct fw_tune_message *message, size_t *bytes);
/* A text written with its NUL as block; NULL: none. */
const char *fw_tune_message_take_text(struct fw_tune_message *message);
void fw_tune_put_block(struct fw_str *payload, const void *data, size_t bytes);
void fw_tune_put_text(struct fw_str *payload, const char *text); /* NULL: none */

#endif
