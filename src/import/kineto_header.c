/* What stands beside the events: the GPUs, the rank, the time's zero. */
#include "import/kineto.h"

#include "import/decimal.h"

#include <string.h>

static bool is_key(const struct fw_lex_text *key, const char *word)
{
	return key->len == strlen(word) && !memcmp(key->p, word, key->len);
}

static int64_t read_int(struct fw_lex *lex, int64_t otherwise)
{
	struct fw_lex_text text;
	int64_t value;

	fw_lex_value(lex, &text);
	return fw_decimal_parse(text.p, text.len, 0, &value) == FW_DECIMAL_OK ? value : otherwise;
}

/* The integer if it fits and is not negative, else -1: unknown. */
static int32_t read_small(struct fw_lex *lex)
{
	int64_t value = read_int(lex, -1);

	return value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
}

static void read_gpu(struct fw_kineto *k, struct fw_lex *lex, struct fw_kineto_gpu *gpu)
{
	int32_t major = -1, minor = -1;
	struct fw_lex_text key, text;
	bool is_first = true;

	*gpu = (struct fw_kineto_gpu){ .id = -1, .memory_bytes = -1, .cc = -1, .sms = -1 };
	if (!fw_lex_expect(lex, '{'))
		return;
	for (; fw_lex_key(lex, is_first, &key); is_first = false) {
		if (is_key(&key, "id")) {
			gpu->id = read_int(lex, -1);
		} else if (is_key(&key, "name")) {
			fw_lex_value(lex, &text);
			gpu->name = fw_kineto_intern(k, &text, k->offset + k->at);
		} else if (is_key(&key, "uuid")) {
			fw_lex_value(lex, &text);
			gpu->uuid = fw_kineto_intern(k, &text, k->offset + k->at);
		} else if (is_key(&key, "totalGlobalMem")) {
			gpu->memory_bytes = read_int(lex, -1);
		} else if (is_key(&key, "computeMajor")) {
			major = read_small(lex);
		} else if (is_key(&key, "computeMinor")) {
			minor = read_small(lex);
		} else if (is_key(&key, "numSms")) {
			gpu->sms = read_small(lex);
		} else if (is_key(&key, "warpSize")) {
			gpu->is_amd = read_small(lex) == 64;
		} else {
			fw_lex_skip(lex);
		}
	}
	if (major >= 0 && major < 1000 && minor >= 0 && minor < 10)
		gpu->cc = major * 10 + minor;
}

static void read_gpus(struct fw_kineto *k, struct fw_lex *lex)
{
	bool is_first = true;

	if (fw_lex_peek(lex) != '[') {
		fw_lex_skip(lex);
		return;
	}
	lex->p++;
	k->gpus.len = 0;
	for (; fw_lex_element(lex, is_first); is_first = false) {
		struct fw_kineto_gpu gpu, *kept;

		read_gpu(k, lex, &gpu);
		kept = fw_lex_ok(lex) ? fw_vec_push(&k->gpus) : NULL;
		if (kept)
			*kept = gpu;
		else if (fw_lex_ok(lex))
			k->is_out_of_memory = true;
	}
}

static void read_distributed(struct fw_kineto *k, struct fw_lex *lex)
{
	struct fw_trace_files *files = &k->trace->files;
	int32_t rank = -1, world_size = -1;
	struct fw_lex_text key;
	bool is_first = true;

	if (fw_lex_peek(lex) != '{') {
		fw_lex_skip(lex);
		return;
	}
	lex->p++;
	for (; fw_lex_key(lex, is_first, &key); is_first = false) {
		if (is_key(&key, "rank"))
			rank = read_small(lex);
		else if (is_key(&key, "world_size"))
			world_size = read_small(lex);
		else
			fw_lex_skip(lex);
	}
	if (!fw_lex_ok(lex))
		return;
	files->rank[k->file] = rank;
	files->world_size[k->file] = world_size;
}

static void read_host(struct fw_kineto *k, struct fw_lex *lex)
{
	struct fw_lex_text text;

	fw_lex_value(lex, &text);
	if (fw_lex_ok(lex) && text.flags & FW_TEXT_QUOTED)
		k->trace->files.host[k->file] = fw_kineto_intern(k, &text, k->offset + k->at);
}

static void read_base(struct fw_kineto *k, struct fw_lex *lex)
{
	int64_t base = read_int(lex, INT64_MIN);

	if (fw_lex_ok(lex) && base >= 0) {
		k->base_ns = base;
		k->has_base = true;
	}
}

void fw_kineto_read_header(struct fw_kineto *k, struct fw_lex *lex, const struct fw_lex_text *key)
{
	if (is_key(key, "deviceProperties")) {
		k->has_header = true;
		read_gpus(k, lex);
	} else if (is_key(key, "distributedInfo")) {
		k->has_header = true;
		read_distributed(k, lex);
	} else if (is_key(key, "baseTimeNanoseconds")) {
		k->has_header = true;
		read_base(k, lex);
	} else if (is_key(key, "host_name") || is_key(key, "hostname")) {
		read_host(k, lex);
	} else {
		k->has_header |= is_key(key, "schemaVersion");
		k->is_amd |= is_key(key, "roctracer_version") ||
			     is_key(key, "hip_runtime_version") ||
			     is_key(key, "rocprofiler-sdk_version");
		k->is_execution_trace |= is_key(key, "nodes");
		fw_lex_skip(lex);
	}
}

void fw_kineto_name_devices(struct fw_kineto *k)
{
	struct fw_trace_devices *devices = &k->trace->devices;
	const struct fw_kineto_gpu *gpus = k->gpus.data;

	for (size_t d = 0; d < devices->len; d++) {
		if (devices->file[d] != k->file)
			continue;
		devices->is_amd[d] |= k->is_amd;
		for (size_t i = 0; i < k->gpus.len; i++) {
			if (gpus[i].id != devices->id[d])
				continue;
			devices->name[d] = gpus[i].name;
			devices->uuid[d] = gpus[i].uuid;
			devices->cc[d] = gpus[i].cc;
			devices->sms[d] = gpus[i].sms;
			devices->memory_bytes[d] = gpus[i].memory_bytes;
			devices->is_amd[d] |= gpus[i].is_amd;
		}
	}
}
