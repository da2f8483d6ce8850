#ifndef FW_SERVE_SERVE_H
#define FW_SERVE_SERVE_H
/* The service as a program: signals, what is said on standard error, the exit status. */
#include "base/address.h"
#include "serve/service.h"

#define FW_SERVE_ENGINE_FAILED 3 /* exit status: the engine failed for good; start again */

struct fw_serve_job {
	struct fw_service_options service;
	const char *listen; /* as it was given */
	struct fw_address address;
	int64_t drain_ns;
	bool is_quiet, is_explaining;
};

/* Serves until a signal or the engine ends it; the exit status. */
int fw_serve_http(const struct fw_serve_job *job);

#endif
