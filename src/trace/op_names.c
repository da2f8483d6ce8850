#include "trace/op_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool fw_is_collective_name(const char *name)
{
	for (const char *p = name; (p = strpbrk(p, "cC")); p++)
		if (p - name >= 1 && !strncasecmp(p, "ccl", 3) && strchr("nNrR", p[-1]))
			return true;
	return false;
}

static const char *memory_name(enum fw_memory_kind kind)
{
	switch (kind) {
	case FW_MEM_PAGEABLE: return "Pageable";
	case FW_MEM_PINNED: return "Pinned";
	case FW_MEM_DEVICE: return "Device";
	case FW_MEM_ARRAY: return "Array";
	case FW_MEM_MANAGED: return "Managed";
	case FW_MEM_DEVICE_STATIC: return "Device Static";
	case FW_MEM_MANAGED_STATIC: return "Managed Static";
	case FW_MEM_UNKNOWN: break;
	}
	return "Unknown";
}

static const char *direction_name(enum fw_copy_direction direction)
{
	switch (direction) {
	case FW_COPY_HTOD: return "HtoD";
	case FW_COPY_DTOH: return "DtoH";
	case FW_COPY_HTOA: return "HtoA";
	case FW_COPY_ATOH: return "AtoH";
	case FW_COPY_ATOA: return "AtoA";
	case FW_COPY_ATOD: return "AtoD";
	case FW_COPY_DTOA: return "DtoA";
	case FW_COPY_DTOD: return "DtoD";
	case FW_COPY_HTOH: return "HtoH";
	case FW_COPY_PTOP: return "PtoP";
	case FW_COPY_UNKNOWN: break;
	}
	return "Unknown";
}

void fw_copy_name(char name[FW_COPY_NAME_BYTES], enum fw_copy_direction direction,
		  enum fw_memory_kind src, enum fw_memory_kind dst)
{
	snprintf(name, FW_COPY_NAME_BYTES, "Memcpy %s (%s -> %s)", direction_name(direction),
		 memory_name(src), memory_name(dst));
}

void fw_memset_name(char name[FW_COPY_NAME_BYTES], enum fw_memory_kind memory)
{
	snprintf(name, FW_COPY_NAME_BYTES, "Memset (%s)", memory_name(memory));
}

enum fw_class fw_copy_owner(enum fw_copy_direction direction)
{
	switch (direction) {
	case FW_COPY_HTOD:
	case FW_COPY_HTOA: return FW_CLASS_COPY_H2D;
	case FW_COPY_DTOH:
	case FW_COPY_ATOH: return FW_CLASS_COPY_D2H;
	case FW_COPY_PTOP: return FW_CLASS_COPY_P2P;
	default: return FW_CLASS_COPY_D2D;
	}
}
