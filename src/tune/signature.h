#ifndef FW_TUNE_SIGNATURE_H
#define FW_TUNE_SIGNATURE_H
/* The parameters of a __global__ function as its source declares them. */
#include "tune/spec.h"

struct fw_tune_parameter {
	const char *name;
	enum fw_tune_type type;
	uint32_t lanes; /* of a vector type: float4 has four; else 1 */
	bool is_bool;
	bool is_pointer;
	bool is_const; /* what it points to is not written */
};

struct fw_tune_signature {
	const char *name;
	uint32_t line;
	bool is_template;
	uint32_t max_threads; /* a number in __launch_bounds__; 0: none, or no number */
	uint32_t n_params;
	struct fw_tune_parameter params[FW_TUNE_MAX_ARGS];
};

/*
 * code: source without comments, literals and directives. kernel: name, with or without namespace and template arguments;
 * NULL: the only one. FW_ERR_ARGUMENT: there is no such kernel, or there are several; the message lists the names.
 * FW_ERR_UNSUPPORTED: a parameter's type is not known; the message names both. Texts are from arena.
 */
fw_status fw_tune_signature_find(struct fw_arena *arena, const char *code, const char *kernel,
				 struct fw_tune_signature *signature, struct fw_error *err);

#endif
