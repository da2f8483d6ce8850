#ifndef FW_TUNE_SPACE_H
#define FW_TUNE_SPACE_H
/*
 * The space of configurations: parameters, their values, and the constraints that a configuration must
 * satisfy. A configuration is one value's index per parameter. Built by the specification's parser, by the
 * block-size default, or read from a recorded space. Immutable once built: may be shared by threads.
 */
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_TUNE_MAX_PARAMS 24
#define FW_TUNE_MAX_VALUES 1024 /* of one parameter */
#define FW_TUNE_MAX_LISTED                                                                         \
	10000000 /* valid configurations that are listed; larger spaces are sampled */

/* What a parameter's value does to the compile or the launch. */
enum fw_tune_param_kind {
	FW_TUNE_MACRO, /* -DNAME=value; block, grid and shared memory expressions may use it too */
	FW_TUNE_MAXRREGCOUNT, /* built in; 0: the compiler's choice */
	FW_TUNE_CARVEOUT,     /* built in; percent, -1: the driver's choice */
	FW_TUNE_FLAGS,        /* built in; the text is added to the compiler's options */
	FW_TUNE_CLUSTER       /* built in; blocks of a cluster along x; 1: none */
};

struct fw_tune_value {
	const char *text; /* as written; what is passed to the compiler */
	int64_t number;   /* of a FLAGS value: its index */
};

struct fw_tune_param {
	const char *name;
	enum fw_tune_param_kind kind;
	uint32_t n_values;
	const struct fw_tune_value *values;
	uint32_t preset; /* index of the value of the default configuration */
};

struct fw_tune_config {
	uint16_t value[FW_TUNE_MAX_PARAMS]; /* index into the parameter's values; unused ones 0 */
};

/* Whether the numbers (one per parameter, in order) satisfy the constraints; false on overflow or division by 0. */
typedef bool fw_tune_allows(const void *constraints, const int64_t *numbers);

struct fw_tune_space {
	struct fw_arena arena; /* owns all the rest */
	uint32_t n_params;
	struct fw_tune_param params[FW_TUNE_MAX_PARAMS];
	fw_tune_allows *allows; /* NULL: no constraints */
	const void *constraints;
	double cartesian;     /* product of the numbers of values */
	bool is_listed;       /* false: too many to list; n_valid is then not known */
	uint64_t n_valid;     /* configurations that satisfy the constraints */
	const uint64_t *keys; /* their keys, ascending; is_listed only */
};

/* Lists the valid configurations, or finds that there are too many. FW_ERR_ARGUMENT: none is valid. */
fw_status fw_tune_space_seal(struct fw_tune_space *space, struct fw_error *err);
void fw_tune_space_free(struct fw_tune_space *space);

bool fw_tune_space_is_valid(const struct fw_tune_space *space, const struct fw_tune_config *config);

/* A configuration as one number (mixed radix, first parameter slowest); FW_ERR_LIMIT-free: the parser refuses products
 * above 2^63. */
uint64_t fw_tune_space_key(const struct fw_tune_space *space, const struct fw_tune_config *config);
void fw_tune_space_config(const struct fw_tune_space *space, uint64_t key,
			  struct fw_tune_config *config);

/* The default configuration; true if it is valid itself. */
bool fw_tune_space_preset(const struct fw_tune_space *space, struct fw_tune_config *config);

/* The numbers of a configuration's values, in order of the parameters. */
void fw_tune_space_numbers(const struct fw_tune_space *space, const struct fw_tune_config *config,
			   int64_t numbers[FW_TUNE_MAX_PARAMS]);

#endif
