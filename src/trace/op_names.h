#ifndef FW_TRACE_OP_NAMES_H
#define FW_TRACE_OP_NAMES_H
/* What names of operations say, and the names of those that have none: spelled as Kineto does. */
#include "trace/trace.h"

/* True when a kernel is named nccl or rccl, in either case. */
bool fw_is_collective_name(const char *name);

/* Room for the names below. */
#define FW_COPY_NAME_BYTES 64

/* "Memcpy HtoD (Pageable -> Device)" */
void fw_copy_name(char name[FW_COPY_NAME_BYTES], enum fw_copy_direction direction,
		  enum fw_memory_kind src, enum fw_memory_kind dst);

/* "Memset (Device)" */
void fw_memset_name(char name[FW_COPY_NAME_BYTES], enum fw_memory_kind memory);

/* The class of a copy: HtoA counts as HtoD, AtoH as DtoH; what is neither stays on the device. */
enum fw_class fw_copy_owner(enum fw_copy_direction direction);

#endif
