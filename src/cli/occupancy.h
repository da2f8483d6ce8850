#ifndef FW_CLI_OCCUPANCY_H
#define FW_CLI_OCCUPANCY_H
/* What the parts of `fullwarp occupancy` share: the command line, read, and the pieces of its output. */
#include "base/json_writer.h"
#include "base/str.h"
#include "cli/options.h"
#include "hw/chips.h"
#include "occupancy/resource.h"

#define FW_OCCUPANCY_MAX_DEVICES 64
#define FW_OCCUPANCY_MAX_BLOCKS  64
#define FW_OCCUPANCY_NO_SWEEP    FW_RESOURCE_COUNT

enum fw_occupancy_format { FW_OCCUPANCY_TEXT, FW_OCCUPANCY_JSON, FW_OCCUPANCY_CSV };

enum fw_occupancy_sort {
	FW_OCCUPANCY_SORT_FILE, /* as they stand in the files */
	FW_OCCUPANCY_SORT_NAME,
	FW_OCCUPANCY_SORT_OCCUPANCY,
	FW_OCCUPANCY_SORT_REGISTERS,
	FW_OCCUPANCY_SORT_SMEM,
	FW_OCCUPANCY_SORT_BLOCKS,
};

/* A GPU that was asked about. */
struct fw_occupancy_device {
	const struct fw_hw_limits *hw;
	const char *chip; /* NULL: only the compute capability is known */
	unsigned sms;     /* 0: not known */
};

/* The command line. Texts are borrowed from argv. */
struct fw_occupancy_args {
	enum fw_occupancy_format format;
	struct fw_occupancy_device devices[FW_OCCUPANCY_MAX_DEVICES];
	size_t device_count;
	unsigned blocks[FW_OCCUPANCY_MAX_BLOCKS];
	size_t block_count; /* 0: none given, or from the launch bounds of each kernel */
	struct fw_occupancy_input kernel; /* registers 0: not given, so not counted */
	enum fw_resource sweep;           /* FW_OCCUPANCY_NO_SWEEP: none */
	bool has_cliffs, has_summary, has_calculator_values, is_terminal;
	uint64_t grid; /* blocks; 0: not given */
	const char *filter;
	enum fw_occupancy_sort sort;
	char **files;
	size_t file_count;
};

/* Reads the command line; -1 to go on, else the exit code. */
int fw_occupancy_args_parse(struct fw_occupancy_args *args, int argc, char **argv);

/* One launch on one GPU, with its result. */
struct fw_occupancy_launch {
	const struct fw_occupancy_device *device;
	struct fw_occupancy_input in;
	struct fw_occupancy_result result;
	unsigned max_threads; /* the most a block of the kernel may have; 0: no bound known */
	bool is_fixed;        /* the kernel allows no other block size */
};

struct fw_occupancy_launch fw_occupancy_launch_of(const struct fw_occupancy_device *device,
						  const struct fw_occupancy_input *kernel,
						  unsigned block);

/* Text of a file, for a terminal: what must not reach one becomes U+FFFD. */
void fw_occupancy_put_clean(struct fw_str *out, const char *text, size_t len);

/* Names of the bits of limiters, with separator between them. */
void fw_occupancy_put_limiters(struct fw_str *out, unsigned limiters, const char *separator);
void fw_occupancy_json_limiters(struct fw_json *json, unsigned limiters);

/* "9.0"; returns text. */
#define FW_OCCUPANCY_CC_TEXT 16
const char *fw_occupancy_cc_text(unsigned cc, char text[FW_OCCUPANCY_CC_TEXT]);

/* "H200 (CC 9.0, 132 SMs)" or "CC 9.0". */
void fw_occupancy_put_device(struct fw_str *out, const struct fw_occupancy_device *device);

/* "1 block", "2 blocks". */
void fw_occupancy_put_count(struct fw_str *out, uint64_t count, const char *noun);

/* Why not even one block can run, in words; nothing where one can. */
void fw_occupancy_put_refusal(struct fw_str *out, const struct fw_occupancy_launch *launch);

/* cc, block, dynamic_smem, blocks_per_sm, warps_per_sm, occupancy, limiters: the names that stay. */
void fw_occupancy_json_result(struct fw_json *json, const struct fw_occupancy_launch *launch);

/* The sentences of --cliffs and their JSON. */
void fw_occupancy_put_cliffs(struct fw_str *out, const struct fw_occupancy_launch *launch);
void fw_occupancy_json_cliffs(struct fw_json *json, const struct fw_occupancy_launch *launch);

/* Why such a launch is low on purpose, from its values alone; NULL: nothing says so. */
const char *fw_occupancy_intended_low_launch(const struct fw_occupancy_launch *launch);

/* What is free, block sizes of equal best occupancy, launch bounds, and what is low on purpose. */
void fw_occupancy_put_advice(struct fw_str *out, const struct fw_occupancy_launch *launch,
			     const char *low);
void fw_occupancy_json_advice(struct fw_json *json, const struct fw_occupancy_launch *launch,
			      const char *low);

/* --sweep. The chart is for terminals. */
void fw_occupancy_put_sweep(struct fw_str *out, const struct fw_occupancy_launch *launch,
			    enum fw_resource over, bool has_chart);
void fw_occupancy_json_sweep(struct fw_json *json, const struct fw_occupancy_launch *launch,
			     enum fw_resource over);
void fw_occupancy_csv_sweep(struct fw_str *out, const struct fw_occupancy_launch *launch,
			    enum fw_resource over);

/* --grid. */
void fw_occupancy_put_tail(struct fw_str *out, const struct fw_occupancy_launch *launch,
			   uint64_t grid);
void fw_occupancy_json_tail(struct fw_json *json, const struct fw_occupancy_launch *launch,
			    uint64_t grid);

/* The columns of a CSV line, and one line. */
void fw_occupancy_csv_header(struct fw_str *out);
void fw_occupancy_csv_line(struct fw_str *out, const struct fw_occupancy_launch *launch);

/* The calculator; returns the exit code. */
int fw_occupancy_calculate(const struct fw_occupancy_args *args);

#endif
