#ifndef FULLWARP_FULLWARP_H
#define FULLWARP_FULLWARP_H
/*
 * What every fullwarp header shares: the result of a call and where it failed.
 * Clean as C89 and as C++98. All functions here are thread-safe.
 */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FW_API __attribute__((visibility("default")))

#define FW_VERSION_MAJOR 0
#define FW_VERSION_MINOR 1
#define FW_VERSION_PATCH 0
#define FW_VERSION       "0.1.0"

/* Result of every fallible call; 0 is success. Grows only at the end. */
typedef enum fw_status {
	FW_OK = 0,
	FW_ERR_NOMEM,       /* out of memory, or a limit on memory was reached */
	FW_ERR_IO,          /* the operating system refused: open, read, write, map */
	FW_ERR_FORMAT,      /* the bytes are not what they claim to be */
	FW_ERR_UNSUPPORTED, /* understood, but not possible here; the message says what to do */
	FW_ERR_ARGUMENT,    /* a value given by the caller is out of range */
	FW_ERR_INTERNAL /* a result failed its own check: a fault of this program, please report it */
} fw_status;

/*
 * Where and why a call failed: file, offset and value. Caller-owned. NULL is accepted wherever a
 * struct fw_error * is taken. Untouched on success.
 */
struct fw_error {
	fw_status code;
	char message[512];
};

/* Name of a status, never NULL; static storage. */
FW_API const char *fw_status_name(fw_status status);

/* "0.1.0"; static storage. */
FW_API const char *fw_version(void);

#ifdef __cplusplus
}
#endif

#endif
