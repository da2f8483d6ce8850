#ifndef FW_CLI_DOCTOR_H
#define FW_CLI_DOCTOR_H
/* The results of fullwarp doctor, as text or JSON. */
#include "doctor/doctor.h"

struct fw_doctor_row {
	const struct fw_doctor_check *check;
	struct fw_doctor_result result;
};

/* "shm-size" for shm_size; at most 31 bytes. */
#define FW_DOCTOR_ID_BYTES 32
const char *fw_doctor_id(const struct fw_doctor_check *check, char id[FW_DOCTOR_ID_BYTES]);

/* On standard output; false: out of memory. */
bool fw_doctor_print_text(const struct fw_doctor_row *rows, size_t count);
bool fw_doctor_print_json(const struct fw_doctor_row *rows, size_t count);

#endif
