#ifndef FW_NN_CUDNN_CACHE_H
#define FW_NN_CUDNN_CACHE_H
/*
 * Choices on disk: one small text file for each GPU, driver, library version, model, batch size and precision. A file that
 * is damaged or of something else is never used in part.
 */
#include "nn/cudnn_choice.h"

#define FW_NN_IDENTITY_BYTES    384
#define FW_NN_CACHE_MAX_BYTES   ((size_t)4 << 20)
#define FW_NN_CACHE_MAX_ENTRIES 4096

struct fw_nn_cache_entry {
	char key[FW_NN_KEY_BYTES];
	bool is_gemm;
	struct fw_nn_config config;
	struct fw_cublaslt_algo algo;
	size_t workspace_bytes;
	float us;
};

struct fw_nn_cache {
	uint32_t n;
	struct fw_nn_cache_entry *entries; /* owned */
};

/* What the choices hold for, in one line. */
void fw_nn_cache_identity(const struct fw_nn_gpu *gpu, const struct fw_nn_plan *plan,
			  char identity[FW_NN_IDENTITY_BYTES]);

/* Reads a file's bytes. FW_ERR_FORMAT: line and what is wrong; FW_ERR_UNSUPPORTED: of another identity. */
fw_status fw_nn_cache_parse(const char *text, size_t size, const char *identity,
			    struct fw_nn_cache *cache, struct fw_error *err);
const struct fw_nn_cache_entry *fw_nn_cache_find(const struct fw_nn_cache *cache, const char *key);
void fw_nn_cache_release(struct fw_nn_cache *cache);

/* An empty cache where the folder has no file for this identity; what is wrong with a file is said, and it is ignored. */
void fw_nn_cache_load(const struct fw_nn_gpu *gpu, const char *identity, struct fw_nn_cache *cache);
/* Replaces the file whole. The measured ones of the choices are written. What fails is said. */
void fw_nn_cache_save(const struct fw_nn_gpu *gpu, const char *identity,
		      const struct fw_nn_choice *const *choices, uint32_t n);

#endif
