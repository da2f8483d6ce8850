#ifndef FW_DOCTOR_DYNAMIC_H
#define FW_DOCTOR_DYNAMIC_H
/* What the dynamic section of an ELF file tells the loader. The bytes are foreign. */
#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define FW_DYNAMIC_NEEDED 128u

/* Texts lie in the arena. */
struct fw_dynamic {
	unsigned machine; /* EM_X86_64... */
	const char *needed[FW_DYNAMIC_NEEDED];
	unsigned needed_count;                /* 0: nothing, or a static program */
	const char *rpath, *runpath, *soname; /* NULL: none */
};

/* A 64-bit little-endian program or library. */
fw_status fw_dynamic_read(struct fw_dynamic *dynamic, struct fw_arena *arena, const void *bytes,
			  size_t size, struct fw_error *err);

#endif
