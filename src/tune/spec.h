#ifndef FW_TUNE_SPEC_H
#define FW_TUNE_SPEC_H
/*
 * A tuning specification: `// fullwarp:` comment lines of a .cu file (docs/format/tune-spec.md). It says what may
 * change (the space), how a configuration is launched, what the kernel's arguments are and which outputs are checked.
 */
#include "tune/expr.h"
#include "tune/space.h"

#define FW_TUNE_MAX_ARGS 64
#define FW_TUNE_MAX_SETS 64
#define FW_TUNE_MAX_DIMS 8 /* extents of one argument */

enum fw_tune_type {
	FW_TUNE_F16,
	FW_TUNE_BF16,
	FW_TUNE_F32,
	FW_TUNE_F64,
	FW_TUNE_I8,
	FW_TUNE_U8,
	FW_TUNE_I16,
	FW_TUNE_U16,
	FW_TUNE_I32,
	FW_TUNE_U32,
	FW_TUNE_I64,
	FW_TUNE_U64
};

/* How a buffer's content is made before the first launch. */
enum fw_tune_fill { FW_TUNE_RANDOM, FW_TUNE_ZERO, FW_TUNE_ONES, FW_TUNE_SEQUENCE, FW_TUNE_FILE };

struct fw_tune_arg {
	const char *name;
	bool is_scalar;
	enum fw_tune_type type;
	uint32_t n_dims; /* of a buffer; its elements are the product of the extents */
	struct fw_tune_expr dims[FW_TUNE_MAX_DIMS];
	struct fw_tune_expr scalar; /* integer scalars; a floating one is in real */
	double real;
	enum fw_tune_fill fill;
	double low, high; /* of random values; default 0 to 1, integers 0 to 100 */
	const char *path; /* of a FILE, raw little-endian elements */
	bool is_output; /* compared with the reference; poisoned before each checked launch unless is_inout */
	bool is_inout;   /* restored to its first content before each checked launch */
	double rel, abs; /* tolerances; integers are compared exactly */
};

struct fw_tune_set { /* a problem size: NAME = number */
	const char *name;
	int64_t number;
	struct fw_tune_expr expr; /* of the sets before it; what number is computed from */
	bool is_macro; /* -DNAME=number too: the source mentions it, and no argument has this name */
};

struct fw_tune_spec {
	struct fw_arena arena; /* owns all the rest */
	const char *source_path;
	const char *source; /* the text, NUL-terminated */
	size_t source_bytes;
	const char *
		kernel; /* name as in the source, template arguments included ("conv<BX, float>") */
	struct fw_tune_space space;
	uint32_t n_sets;
	struct fw_tune_set sets[FW_TUNE_MAX_SETS];
	/* Other problem sizes on which the winner is checked: each row gives all sets. */
	uint32_t n_check_sizes;
	const int64_t *check_sizes; /* n_check_sizes x n_sets */
	struct fw_tune_expr grid[3], block[3], dynamic_smem;
	uint32_t n_args;
	struct fw_tune_arg args[FW_TUNE_MAX_ARGS];
	uint32_t n_flags; /* compiler options of every configuration */
	const char *const *flags;
	const char *
		reference; /* kernel of the same file that gives the right output, or NULL: the default configuration */
	struct fw_tune_expr reference_grid[3], reference_block[3];
};

/* A configuration as it is launched. */
struct fw_tune_launch {
	uint32_t grid[3], block[3], cluster;
	uint32_t dynamic_smem;
	int carveout; /* -1: the driver's choice */
};

/* Reads the .cu file's comment lines. FW_ERR_FORMAT: path, line, column and what was found there. */
fw_status fw_tune_spec_read(const char *path, struct fw_tune_spec *spec, struct fw_error *err);
/* The same from memory; path is only for messages. */
fw_status fw_tune_spec_parse(const char *path, const char *text, size_t bytes,
			     struct fw_tune_spec *spec, struct fw_error *err);
void fw_tune_spec_free(struct fw_tune_spec *spec);

/* sizes: n_sets numbers, NULL: the spec's own. FW_ERR_ARGUMENT: a zero or too large grid or block, overflow. */
fw_status fw_tune_spec_launch(const struct fw_tune_spec *spec, const struct fw_tune_config *config,
			      const int64_t *sizes, struct fw_tune_launch *launch,
			      struct fw_error *err);
/*
 * The same of spec->reference, which has no dynamic shared memory: grid and block from reference_grid and
 * reference_block. FW_ERR_ARGUMENT too where there is no reference.
 */
fw_status fw_tune_spec_reference_launch(const struct fw_tune_spec *spec,
					const struct fw_tune_config *config, const int64_t *sizes,
					struct fw_tune_launch *launch, struct fw_error *err);
/* The value of an integer scalar argument; it must fit its type. */
fw_status fw_tune_spec_scalar(const struct fw_tune_spec *spec, uint32_t arg,
			      const struct fw_tune_config *config, const int64_t *sizes,
			      int64_t *value, struct fw_error *err);
/* Elements of a buffer argument; overflow and more than 2^40 bytes are errors. */
fw_status fw_tune_spec_elements(const struct fw_tune_spec *spec, uint32_t arg, const int64_t *sizes,
				uint64_t *elements, struct fw_error *err);
/* Bytes of an element: 1 to 8. */
uint32_t fw_tune_type_bytes(enum fw_tune_type type);
const char *fw_tune_type_name(enum fw_tune_type type); /* "f32" */

#endif
