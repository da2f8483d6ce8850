#ifndef FW_DOCTOR_PROGRAM_H
#define FW_DOCTOR_PROGRAM_H
/* What --for names: an interpreter, whose PyTorch counts, or a file with device code. */
#include "base/file.h"
#include "binary/binary.h"
#include "doctor/python.h"

struct fw_program {
	const char *path; /* of the file with the device code; NULL: none is known */
	struct fw_torch torch;
	bool is_python;
	struct fw_file file;
	struct fw_binary *binary; /* NULL: not read, why says it */
	char why[512];
};

/* Looks at host->program; with_code: reads the device code too. Release it always. */
void fw_program_open(struct fw_host *host, bool with_code, struct fw_program *program);
void fw_program_release(struct fw_program *program);

#endif
