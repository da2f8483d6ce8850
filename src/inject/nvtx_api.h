#ifndef FW_INJECT_NVTX_API_H
#define FW_INJECT_NVTX_API_H
/*
 * What an instance of NVTX's headers and a tool tell each other, written out so that no NVIDIA header is
 * needed. Version 3, and version 2 as far as it is the same. tests/nvidia/nvtx_api.c compares it with
 * nvtx3/nvToolsExt.h where that is found.
 */
#include <stddef.h>
#include <stdint.h>

/* Ids of what its function hands out, and of the tables of functions among it. */
#define FW_NVTX_EXPORT_CALLBACKS 1u
#define FW_NVTX_EXPORT_VERSION   3u
#define FW_NVTX_MODULE_CORE      1u
#define FW_NVTX_MODULE_CORE2     5u

#define FW_NVTX_VERSION 3u

typedef const void *fw_nvtx_get_export(uint32_t id);
typedef void fw_nvtx_function(void); /* stands for any type of function */

struct fw_nvtx_callbacks {
	size_t struct_size;
	/* *table: pointers to the places of functions, by number, *last of them; 0: no such module. */
	int (*get_table)(uint32_t module, fw_nvtx_function ***table[], unsigned *last);
};

struct fw_nvtx_version {
	size_t struct_size;
	uint32_t version, reserved;
	void (*set_tool_version)(uint32_t version);
};

enum fw_nvtx_core {
	FW_NVTX_MARK_EX = 1,
	FW_NVTX_MARK_A,
	FW_NVTX_MARK_W,
	FW_NVTX_START_EX,
	FW_NVTX_START_A,
	FW_NVTX_START_W,
	FW_NVTX_END,
	FW_NVTX_PUSH_EX,
	FW_NVTX_PUSH_A,
	FW_NVTX_PUSH_W,
	FW_NVTX_POP,
	FW_NVTX_NAME_CATEGORY_A,
	FW_NVTX_NAME_CATEGORY_W,
	FW_NVTX_NAME_THREAD_A,
	FW_NVTX_NAME_THREAD_W
};

enum fw_nvtx_core2 {
	FW_NVTX_DOMAIN_MARK_EX = 1,
	FW_NVTX_DOMAIN_START_EX,
	FW_NVTX_DOMAIN_END,
	FW_NVTX_DOMAIN_PUSH_EX,
	FW_NVTX_DOMAIN_POP,
	FW_NVTX_REGISTER_STRING_A = 10,
	FW_NVTX_REGISTER_STRING_W,
	FW_NVTX_DOMAIN_CREATE_A,
	FW_NVTX_DOMAIN_CREATE_W
};

enum fw_nvtx_message_type { FW_NVTX_NO_MESSAGE, FW_NVTX_ASCII, FW_NVTX_WIDE, FW_NVTX_REGISTERED };

struct fw_nvtx_attributes { /* nvtxEventAttributes_t */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type; /* enum fw_nvtx_message_type */
	const void *message;
};

/* What push and pop answer when no tool counts levels, and what they answer under us: nothing changes. */
#define FW_NVTX_NO_LEVELS (-2)

#endif
