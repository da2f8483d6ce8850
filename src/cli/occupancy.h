#ifndef FW_CLI_OCCUPANCY_H
#define FW_CLI_OCCUPANCY_H
/* What the parts of `fullwarp occupancy` share: the command line, read, and the pieces of its output. */
#include "base/json_writer.h"
#include "base/str.h"
#include "cli/options.h"
#include "hw/chips.h"
#include "occupancy/resource.h"

#define OCCUPANCY_MAX_DEVICES 64
#define OCCUPANCY_MAX_BLOCKS  64
#define OCCUPANCY_NO_SWEEP    FW_RESOURCE_COUNT

enum occupancy_format { OCCUPANCY_TEXT, OCCUPANCY_JSON, OCCUPANCY_CSV };

enum occupancy_sort {
	OCCUPANCY_SORT_FILE, /* as they stand in the files */
	OCCUPANCY_SORT_NAME,
	OCCUPANCY_SORT_OCCUPANCY,
	OCCUPANCY_SORT_REGISTERS,
	OCCUPANCY_SORT_SMEM,
	OCCUPANCY_SORT_BLOCKS,
};

/* A GPU that was asked about. */
struct occupancy_device {
	const struct fw_hw_limits *hw;
	const char *chip; /* NULL: only the compute capability is known */
	unsigned sms;     /* 0: not known */
};

/* The command line. Texts are borrowed from argv. */
struct occupancy_args {
	enum occupancy_format format;
	struct occupancy_device devices[OCCUPANCY_MAX_DEVICES];
	size_t device_count;
	unsigned blocks[OCCUPANCY_MAX_BLOCKS];
	size_t block_count; /* 0: none given, or from the launch bounds of each kernel */
	struct fw_occupancy_input kernel; /* registers 0: not given, so not counted */
	enum fw_resource sweep;           /* OCCUPANCY_NO_SWEEP: none */
	bool has_cliffs, has_summary, has_calculator_values, is_terminal;
	uint64_t grid; /* blocks; 0: not given */
	const char *filter;
	enum occupancy_sort sort;
	char **files;
	size_t file_count;
};

/* Reads the command line; -1 to go on, else the exit code. */
int occupancy_args_parse(struct occupancy_args *args, int argc, char **argv);

/* One launch on one GPU, with its result. */
struct occupancy_launch {
	const struct occupancy_device *device;
	struct fw_occupancy_input in;
	struct fw_occupancy_result result;
	unsigned max_threads; /* the most a block of the kernel may have; 0: no bound known */
	bool is_fixed;        /* the kernel allows no other block size */
};

struct occupancy_launch occupancy_launch_of(const struct occupancy_device *device,
					    const struct fw_occupancy_input *kernel,
					    unsigned block);

/* Names of the bits of limiters, with separator between them. */
void occupancy_put_limiters(struct fw_str *out, unsigned limiters, const char *separator);
void occupancy_json_limiters(struct fw_json *json, unsigned limiters);

/* "9.0"; returns text. */
#define OCCUPANCY_CC_TEXT 16
const char *occupancy_cc_text(unsigned cc, char text[OCCUPANCY_CC_TEXT]);

/* "H200 (CC 9.0, 132 SMs)" or "CC 9.0". */
void occupancy_put_device(struct fw_str *out, const struct occupancy_device *device);

/* "1 block", "2 blocks". */
void occupancy_put_count(struct fw_str *out, uint64_t count, const char *noun);

/* Why not even one block can run, in words; nothing where one can. */
void occupancy_put_refusal(struct fw_str *out, const struct occupancy_launch *launch);

/* cc, block, dynamic_smem, blocks_per_sm, warps_per_sm, occupancy, limiters: the names that stay. */
void occupancy_json_result(struct fw_json *json, const struct occupancy_launch *launch);

/* The sentences of --cliffs and their JSON. */
void occupancy_put_cliffs(struct fw_str *out, const struct occupancy_launch *launch);
void occupancy_json_cliffs(struct fw_json *json, const struct occupancy_launch *launch);

/* Why such a launch is low on purpose, from its values alone; NULL: nothing says so. */
const char *occupancy_intended_low_launch(const struct occupancy_launch *launch);

/* What is free, block sizes of equal best occupancy, launch bounds, and what is low on purpose. */
void occupancy_put_advice(struct fw_str *out, const struct occupancy_launch *launch,
			  const char *low);
void occupancy_json_advice(struct fw_json *json, const struct occupancy_launch *launch,
			   const char *low);

/* --sweep. The chart is for terminals. */
void occupancy_put_sweep(struct fw_str *out, const struct occupancy_launch *launch,
			 enum fw_resource over, bool has_chart);
void occupancy_json_sweep(struct fw_json *json, const struct occupancy_launch *launch,
			  enum fw_resource over);
void occupancy_csv_sweep(struct fw_str *out, const struct occupancy_launch *launch,
			 enum fw_resource over);

/* --grid. */
void occupancy_put_tail(struct fw_str *out, const struct occupancy_launch *launch, uint64_t grid);
void occupancy_json_tail(struct fw_json *json, const struct occupancy_launch *launch,
			 uint64_t grid);

/* The columns of a CSV line, and one line. */
void occupancy_csv_header(struct fw_str *out);
void occupancy_csv_line(struct fw_str *out, const struct occupancy_launch *launch);

/* The calculator; returns the exit code. */
int occupancy_calculate(const struct occupancy_args *args);

#endif
