#ifndef FW_TRACE_RECORDING_CONTROL_H
#define FW_TRACE_RECORDING_CONTROL_H
/*
 * How the recorder speaks to what it put into the programs: the environment, and one page of memory
 * that all of them map.
 *
 * Environment (set by the recorder, inherited by every child):
 *   FULLWARP_RECORD_DIR      the recording's folder, absolute
 *   FULLWARP_RECORD_OPTIONS  key=value, separated by ';': see FW_REC_OPTION_*
 *   CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH  the injected library
 *   PYTHONPATH               begins with the folder of the shim's sitecustomize.py
 */
#include <stdatomic.h>
#include <stdint.h>

#define FW_REC_ENV_DIR     "FULLWARP_RECORD_DIR"
#define FW_REC_ENV_OPTIONS "FULLWARP_RECORD_OPTIONS"

#define FW_REC_OPTION_GRAPHS    "graphs"  /* launch (the default) or node */
#define FW_REC_OPTION_SYNCS     "syncs"   /* 1: synchronisation and event records too, which cost */
#define FW_REC_OPTION_KERNELS   "kernels" /* POSIX extended regular expression, %XX-escaped */
#define FW_REC_OPTION_MAX_BYTES "max_bytes" /* of one process's file; 0 or absent: no limit */
#define FW_REC_OPTION_RANGE     "range" /* cuda-profiler: only between cudaProfilerStart and Stop */
#define FW_REC_OPTION_CALLS     "python_calls" /* 1: the shim looks for call sites that wait */

#define FW_REC_KERNELS_BYTES 1023 /* the longest expression that a program's library takes */

/* The file of that name in the folder, made before the program starts. */
#define FW_REC_CONTROL_FILE  "control"
#define FW_REC_CONTROL_BYTES 4096
#define FW_REC_CONTROL_MAGIC 0x4c544346u /* "FCTL" */

enum fw_rec_wanted {
	FW_REC_WANT_PAUSE, /* write what is there, record nothing until told otherwise */
	FW_REC_WANT_RECORD,
	FW_REC_WANT_STOP /* for good */
};

/* The recorder writes, the others read; each looks at least every 100 ms. */
struct fw_rec_control {
	uint32_t magic, version; /* FW_REC_CONTROL_MAGIC, FW_REC_VERSION */
	_Atomic uint32_t wanted; /* enum fw_rec_wanted */
	int32_t recorder_pid;
	uint8_t boot_id[16]; /* of the recorder's host: on another one the page says nothing */
	uint8_t reserved[FW_REC_CONTROL_BYTES - 32];
};
_Static_assert(sizeof(struct fw_rec_control) == FW_REC_CONTROL_BYTES, "one page");

/*
 * A process whose program has a profiler of its own: before it starts one, the shim writes 1 to
 * `asked` in the file yield-<pid> of the folder (8 bytes, made by the shim when the program imports
 * torch) and waits for `granted` to be 1: up to a second where a file process-<pid>-<n>.fwr says that
 * the library records, else not at all; afterwards it writes 0. The library looks at least every
 * 20 ms, for the file as long as there is none, and gives up the activity API while 1 stands there.
 */
#define FW_REC_YIELD_FILE "yield-%u"

struct fw_rec_yield {
	_Atomic uint32_t asked;   /* by the shim */
	_Atomic uint32_t granted; /* by the library */
};

#endif
