/* A launch configuration and a GPU -> occupancy, blocks that fit at once, waves. */
#include "ledger/fit.h"

#include "fullwarp/occupancy.h"
#include "hw/chips.h"

#include <limits.h>

#define NOT_KNOWN UINT_MAX

/* Product of three; 0 when one is 0 (not recorded) or it does not fit. */
static uint64_t product(uint32_t x, uint32_t y, uint32_t z)
{
	uint64_t xyz;

	return __builtin_mul_overflow((uint64_t)x * y, z, &xyz) ? 0 : xyz;
}

/* What the trace says of the GPU, else the table of chips by name. */
static void properties(const struct fw_trace *t, uint32_t device, unsigned *cc, unsigned *sms)
{
	const struct fw_hw_chip *chip;
	uint32_t name = t->devices.name[device];

	*cc = t->devices.cc[device] > 0 ? (unsigned)t->devices.cc[device] : NOT_KNOWN;
	*sms = t->devices.sms[device] > 0 ? (unsigned)t->devices.sms[device] : NOT_KNOWN;
	if ((*cc != NOT_KNOWN && *sms != NOT_KNOWN) || !name ||
	    fw_hw_chip_find(fw_trace_text(t, name), &chip, NULL))
		return;
	if (*cc == NOT_KNOWN)
		*cc = chip->cc;
	if (*sms == NOT_KNOWN && chip->sms)
		*sms = chip->sms;
}

/*
 * Shared memory of a block. Kineto tells only the sum; as dynamic memory it gives the same answer,
 * because the limits apply to the sum and more than 48 KB cannot run without being opted in to.
 */
static bool shared_memory(const struct fw_trace_shapes *s, uint32_t shape,
			  struct fw_occupancy_input *in)
{
	int64_t fixed = s->smem_static[shape], dynamic = s->smem_dynamic[shape];

	if (fixed < 0 || dynamic < 0) {
		fixed = 0;
		dynamic = s->smem_total[shape];
	}
	if (dynamic < 0 || fixed > INT_MAX || dynamic > INT_MAX)
		return false;
	in->static_smem_bytes = (unsigned)fixed;
	in->dynamic_smem_bytes = (unsigned)dynamic;
	return true;
}

/* No kernel runs without registers or threads: 0 in a record means that it was not recorded. */
static bool launch_input(const struct fw_trace_shapes *s, uint32_t shape,
			 struct fw_occupancy_input *in)
{
	uint64_t threads = product(s->block_x[shape], s->block_y[shape], s->block_z[shape]);

	if (!threads || threads > INT_MAX || s->registers[shape] <= 0)
		return false;
	in->block_threads = (unsigned)threads;
	in->registers = (unsigned)s->registers[shape];
	if (s->cluster[shape] && s->cluster[shape] <= INT_MAX)
		in->cluster_blocks = s->cluster[shape];
	return shared_memory(s, shape, in);
}

void fw_fit_shape(const struct fw_trace *trace, uint32_t device, uint32_t shape, struct fw_fit *fit)
{
	const struct fw_trace_shapes *s = &trace->shapes;
	struct fw_occupancy_result out;
	struct fw_occupancy_input in;
	unsigned sms;

	*fit = (struct fw_fit){ .occupancy = -1, .blocks_per_sm = -1, .waves = -1 };
	if (shape == FW_NONE || trace->devices.is_amd[device])
		return;
	fw_occupancy_input_init(&in);
	fw_occupancy_result_init(&out);
	properties(trace, device, &in.cc, &sms);
	if (in.cc == NOT_KNOWN || !launch_input(s, shape, &in) || fw_occupancy(&in, &out, NULL) ||
	    !out.blocks_per_sm)
		return;
	fit->occupancy = out.occupancy;
	fit->limiters = out.limiters;
	fit->blocks_per_sm = (int32_t)out.blocks_per_sm;
	fit->grid = product(s->grid_x[shape], s->grid_y[shape], s->grid_z[shape]);
	if (sms == NOT_KNOWN || !fit->grid || fit->grid > INT64_MAX)
		return;
	fit->capacity = (uint64_t)sms * out.blocks_per_sm;
	fit->waves = (double)fit->grid / (double)fit->capacity;
}
