/* The names of what may come of a configuration. */
#include "tune/result.h"

const char *fw_tune_status_name(enum fw_tune_status status)
{
	switch (status) {
	case FW_TUNE_OK: return "ok";
	case FW_TUNE_COMPILE_FAILED: return "compile-failed";
	case FW_TUNE_NOT_LAUNCHABLE: return "not-launchable";
	case FW_TUNE_LAUNCH_FAILED: return "launch-failed";
	case FW_TUNE_WRONG_OUTPUT: return "wrong-output";
	case FW_TUNE_WROTE_OUTSIDE: return "wrote-outside";
	case FW_TUNE_CRASHED: return "crashed";
	case FW_TUNE_HUNG: return "hung";
	}
	return "unknown";
}
