#ifndef FW_TUNE_SPACE_H
#define FW_TUNE_SPACE_H
/*
 * The space of configurations: parameters, their values, and the constraints that a configuration must
 * satisfy. A configuration is one value's index per parameter. Built by the specification's parser, by the
 * block-size default, or read from a recorded space. Immutable once sealed: may be shared by threads.
 *
 *	struct fw_tune_space space = { 0 };
 *	fw_tune_space_add(&space, &param, err);                 one call per parameter; texts are copied
 *	space.allows = allows, space.constraints = mine;        or none
 *	fw_tune_space_seal(&space, err);                        or fw_tune_space_seal_keys()
 *	...
 *	fw_tune_space_free(&space);
 */
#include "base/arena.h"
#include "base/error.h"
#include "tune/rng.h"

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
	FW_TUNE_CLUSTER,      /* built in; blocks of a cluster along x; 1: none */
	FW_TUNE_BOUNDS, /* built in; FULLWARP_BOUNDS is __launch_bounds__(threads, v); 0: nothing */
	FW_TUNE_LAUNCH  /* for launch expressions and template arguments only: no -D */
};

struct fw_tune_value {
	const char *text; /* as written; what is passed to the compiler */
	int64_t number;   /* of a value that is no number: its index */
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

/*
 * Whether the constraints that can be decided with the first n_bound numbers, and could not with fewer, are satisfied;
 * false on overflow or division by 0. A configuration is valid if this holds for every n_bound from 0 to the number
 * of parameters. Whoever does not care answers true below that number.
 */
typedef bool fw_tune_allows(const void *constraints, const int64_t *numbers, uint32_t n_bound);

struct fw_tune_space {
	struct fw_arena arena; /* owns all the rest but the keys */
	uint32_t n_params;
	struct fw_tune_param params[FW_TUNE_MAX_PARAMS];
	fw_tune_allows *allows; /* NULL: no constraints */
	const void *constraints;
	uint64_t max_tests; /* calls of allows while listing; 0: a default, some seconds */
	bool is_sealed;
	double cartesian;     /* product of the numbers of values */
	bool is_listed;       /* false: too many to list; n_valid is then not known */
	uint64_t n_valid;     /* configurations that satisfy the constraints */
	const uint64_t *keys; /* their keys, ascending; is_listed only */
};

/*
 * Adds a parameter; name and values are copied. FW_ERR_ARGUMENT: no or too many values, a name or value twice, too many
 * parameters, more than 2^63 combinations.
 */
fw_status fw_tune_space_add(struct fw_tune_space *space, const struct fw_tune_param *param,
			    struct fw_error *err);

/* Lists the valid configurations, or finds that there are too many. FW_ERR_ARGUMENT: none is valid. */
fw_status fw_tune_space_seal(struct fw_tune_space *space, struct fw_error *err);

/* Instead: exactly these configurations are valid (a recorded space); any order, repeated ones count once; copied. */
fw_status fw_tune_space_seal_keys(struct fw_tune_space *space, const uint64_t *keys, size_t n_keys,
				  struct fw_error *err);
void fw_tune_space_free(struct fw_tune_space *space);

bool fw_tune_space_is_valid(const struct fw_tune_space *space, const struct fw_tune_config *config);

/* A configuration as one number (mixed radix, first parameter slowest). */
uint64_t fw_tune_space_key(const struct fw_tune_space *space, const struct fw_tune_config *config);
void fw_tune_space_config(const struct fw_tune_space *space, uint64_t key,
			  struct fw_tune_config *config);

/* The default configuration; true if it is valid itself. */
bool fw_tune_space_preset(const struct fw_tune_space *space, struct fw_tune_config *config);

/*
 * A valid configuration at random: uniform where the space is listed or not too sparse,
 * else by random values with early tests. False: none found within a bounded time.
 */
bool fw_tune_space_random(const struct fw_tune_space *space, struct fw_tune_rng *rng,
			  struct fw_tune_config *config);

/* The numbers of a configuration's values, in order of the parameters. */
void fw_tune_space_numbers(const struct fw_tune_space *space, const struct fw_tune_config *config,
			   int64_t numbers[FW_TUNE_MAX_PARAMS]);

#endif
