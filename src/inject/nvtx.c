/* What the library named by NVTX_INJECTION64_PATH does for NVTX: each instance of its headers, of which a
 * program may have several, gets our functions in its tables. */
#include "inject/entry.h"
#include "inject/nvtx_open.h"
#include "inject/recorder.h"
#include "trace/recording_control.h"

#include <stdlib.h>

static struct fw_nvtx_message narrow(const char *text)
{
	return (struct fw_nvtx_message){ FW_NVTX_ASCII, text };
}

static struct fw_nvtx_message wide(const void *text)
{
	return (struct fw_nvtx_message){ FW_NVTX_WIDE, text };
}

static void mark_ex(const struct fw_nvtx_attributes *attributes)
{
	fw_nvtx_mark(NULL, fw_nvtx_message_of(attributes));
}

static void mark_a(const char *text)
{
	fw_nvtx_mark(NULL, narrow(text));
}

static void mark_w(const void *text)
{
	fw_nvtx_mark(NULL, wide(text));
}

static uint64_t start_ex(const struct fw_nvtx_attributes *attributes)
{
	return fw_nvtx_start(NULL, fw_nvtx_message_of(attributes));
}

static uint64_t start_a(const char *text)
{
	return fw_nvtx_start(NULL, narrow(text));
}

static uint64_t start_w(const void *text)
{
	return fw_nvtx_start(NULL, wide(text));
}

static int push_ex(const struct fw_nvtx_attributes *attributes)
{
	fw_nvtx_push(NULL, fw_nvtx_message_of(attributes));
	return FW_NVTX_NO_LEVELS;
}

static int push_a(const char *text)
{
	fw_nvtx_push(NULL, narrow(text));
	return FW_NVTX_NO_LEVELS;
}

static int push_w(const void *text)
{
	fw_nvtx_push(NULL, wide(text));
	return FW_NVTX_NO_LEVELS;
}

static int pop(void)
{
	fw_nvtx_pop(NULL);
	return FW_NVTX_NO_LEVELS;
}

static void name_thread_a(uint32_t tid, const char *text)
{
	fw_nvtx_name_thread(tid, narrow(text));
}

static void name_thread_w(uint32_t tid, const void *text)
{
	fw_nvtx_name_thread(tid, wide(text));
}

static void domain_mark_ex(const char *domain, const struct fw_nvtx_attributes *attributes)
{
	fw_nvtx_mark(domain, fw_nvtx_message_of(attributes));
}

static uint64_t domain_start_ex(const char *domain, const struct fw_nvtx_attributes *attributes)
{
	return fw_nvtx_start(domain, fw_nvtx_message_of(attributes));
}

static void domain_end(const char *domain, uint64_t id)
{
	(void)domain;
	fw_nvtx_end(id);
}

static int domain_push_ex(const char *domain, const struct fw_nvtx_attributes *attributes)
{
	fw_nvtx_push(domain, fw_nvtx_message_of(attributes));
	return FW_NVTX_NO_LEVELS;
}

static int domain_pop(const char *domain)
{
	fw_nvtx_pop(domain);
	return FW_NVTX_NO_LEVELS;
}

/* A registered string means the same in every domain. */
static const char *register_string_a(const char *domain, const char *text)
{
	(void)domain;
	return fw_nvtx_intern(narrow(text));
}

static const char *register_string_w(const char *domain, const void *text)
{
	(void)domain;
	return fw_nvtx_intern(wide(text));
}

static const char *domain_create_a(const char *text)
{
	return fw_nvtx_intern(narrow(text));
}

static const char *domain_create_w(const void *text)
{
	return fw_nvtx_intern(wide(text));
}

struct place {
	unsigned number;
	fw_nvtx_function *function;
};

#define PLACE(number, function)                                                                    \
	{                                                                                          \
		number, (fw_nvtx_function *)(function)                                             \
	}

static const struct place core[] = {
	PLACE(FW_NVTX_MARK_EX, mark_ex),
	PLACE(FW_NVTX_MARK_A, mark_a),
	PLACE(FW_NVTX_MARK_W, mark_w),
	PLACE(FW_NVTX_START_EX, start_ex),
	PLACE(FW_NVTX_START_A, start_a),
	PLACE(FW_NVTX_START_W, start_w),
	PLACE(FW_NVTX_END, fw_nvtx_end),
	PLACE(FW_NVTX_PUSH_EX, push_ex),
	PLACE(FW_NVTX_PUSH_A, push_a),
	PLACE(FW_NVTX_PUSH_W, push_w),
	PLACE(FW_NVTX_POP, pop),
	PLACE(FW_NVTX_NAME_THREAD_A, name_thread_a),
	PLACE(FW_NVTX_NAME_THREAD_W, name_thread_w),
};

static const struct place core2[] = {
	PLACE(FW_NVTX_DOMAIN_MARK_EX, domain_mark_ex),
	PLACE(FW_NVTX_DOMAIN_START_EX, domain_start_ex),
	PLACE(FW_NVTX_DOMAIN_END, domain_end),
	PLACE(FW_NVTX_DOMAIN_PUSH_EX, domain_push_ex),
	PLACE(FW_NVTX_DOMAIN_POP, domain_pop),
	PLACE(FW_NVTX_REGISTER_STRING_A, register_string_a),
	PLACE(FW_NVTX_REGISTER_STRING_W, register_string_w),
	PLACE(FW_NVTX_DOMAIN_CREATE_A, domain_create_a),
	PLACE(FW_NVTX_DOMAIN_CREATE_W, domain_create_w),
};

/* An older NVTX has fewer functions: those that it lacks are left out. */
static bool fill(const struct fw_nvtx_callbacks *callbacks, uint32_t module,
		 const struct place *places, size_t count)
{
	fw_nvtx_function ***table = NULL;
	unsigned last = 0;

	if (!callbacks->get_table(module, &table, &last) || !table)
		return false;
	for (size_t i = 0; i < count; i++)
		if (places[i].number <= last && table[places[i].number])
			*table[places[i].number] = places[i].function;
	return true;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int InitializeInjectionNvtx2(void *get_export_table)
{
	fw_nvtx_get_export *get_export = (fw_nvtx_get_export *)get_export_table;
	const struct fw_nvtx_callbacks *callbacks;
	const struct fw_nvtx_version *version;

	/* Another thread may be about to start it, so what counts is whether there is a folder. */
	if (!get_export || (!fw_recorder_start() && !getenv(FW_REC_ENV_DIR)))
		return 0;
	callbacks = get_export(FW_NVTX_EXPORT_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof(*callbacks) || !callbacks->get_table ||
	    !fill(callbacks, FW_NVTX_MODULE_CORE, core, COUNT(core)))
		return 0;
	fill(callbacks, FW_NVTX_MODULE_CORE2, core2, COUNT(core2));
	version = get_export(FW_NVTX_EXPORT_VERSION);
	if (version && version->struct_size >= sizeof(*version) && version->set_tool_version)
		version->set_tool_version(FW_NVTX_VERSION);
	return 1;
}
