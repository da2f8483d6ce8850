/* Kernels whose grids leave SMs without work: too few blocks, or a last wave that is not whole. */
#include "rules/host.h"
#include "rules/measured.h"
#include "rules/rule.h"

#include "base/demangle.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ROWS_SHOWN 4

extern const struct fw_rule fw_rule_low_fill;

struct loss {
	double lost_ns; /* of the row's time, in SMs that had no block */
	double share;   /* of its time */
	bool is_tail;
};

static double blocks_of(const struct fw_trace *t, const struct fw_kernel_row *row)
{
	return (double)t->shapes.grid_x[row->shape] * t->shapes.grid_y[row->shape] *
	       t->shapes.grid_z[row->shape];
}

/* Kernels that compute; a collective asks for as few blocks as the link needs. */
static bool is_computing(const struct fw_ledger *ledger, const struct fw_kernel_row *row)
{
	const char *name = fw_trace_text(ledger->trace, row->name);

	return !strstr(name, "nccl") && !strstr(name, "rccl");
}

/*
 * A model: blocks take equal time, and only an SM without any block is lost. A block a SM is enough for
 * kernels that are built so, so more residency is never asked for. In the last wave, as long as a whole
 * one, SMs are lost if fewer blocks than SMs are left.
 */
static struct loss loss_of(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			   const struct fw_kernel_row *row)
{
	double sms = ledger->trace->devices.sms[device->device], blocks, whole, left;
	struct loss loss = { 0 };

	if (row->shape == FW_NONE || sms <= 0 || !is_computing(ledger, row))
		return loss;
	blocks = blocks_of(ledger->trace, row);
	if (blocks < 1)
		return loss;
	if (blocks < sms) {
		loss.share = 1 - blocks / sms;
	} else if (row->waves > 1 && row->blocks_per_sm > 0) {
		whole = floor(row->waves);
		left = blocks - whole * sms * row->blocks_per_sm;
		if (left > 0 && left < sms)
			loss.share = (1 - left / sms) / (whole + 1);
		loss.is_tail = true;
	}
	loss.lost_ns = loss.share * (double)row->total_ns;
	return loss;
}

static void add_rows(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
		     struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_trace *t = ledger->trace;
	double last = INFINITY;

	/* The few dearest, found one by one: the table is sorted by time, not by loss. */
	for (int n = 0; n < ROWS_SHOWN; n++) {
		const struct fw_kernel_row *best = NULL;
		struct loss most = { 0 };

		for (size_t i = 0; i < device->kernel_count; i++) {
			struct loss loss = loss_of(ledger, device, &device->kernels[i]);

			if (loss.lost_ns > most.lost_ns && loss.lost_ns < last) {
				most = loss;
				best = &device->kernels[i];
			}
		}
		if (!best)
			return;
		last = most.lost_ns;
		fw_finding_evidence(findings, f,
				    fw_demangle(&findings->arena, fw_trace_text(t, best->name)),
				    most.is_tail ? "last wave not whole" : "fewer blocks than SMs",
				    "grid %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", %" PRId64
				    " times, %s, of which empty (model) %s%s",
				    t->shapes.grid_x[best->shape], t->shapes.grid_y[best->shape],
				    t->shapes.grid_z[best->shape], best->count,
				    fw_ns_text(findings, best->total_ns),
				    fw_ns_text(findings, (int64_t)most.lost_ns),
				    fw_measured_kernel(findings, best));
	}
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f, double few, double tail)
{
	if (few >= tail)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Give the GPU more blocks: a larger batch; several of "
					"these kernels at "
					"once on streams; a split along K for matrix products with "
					"few output "
					"tiles and a long inner dimension.",
				.pytorch = "loader = DataLoader(dataset, batch_size=2 * B)",
				.cuda = "cublasLtMatmulPreferenceSetAttribute(pref, "
					"CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &all, "
					"sizeof(all));  "
					"/* lets it split K */",
				.when = "the kernel is limited by how many SMs work, not by "
					"latency or memory: "
					"measure one change. A split along K adds a reduction" });
	if (tail > 0)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Choose sizes so that the blocks fill whole waves, or a "
					"persistent "
					"kernel.",
				.cuda = "dim3 grid(sms * blocks_per_sm);\n"
					"for (int tile = blockIdx.x; tile < tiles; tile += "
					"gridDim.x) ...",
				.when = "the kernel runs one or two waves; the number of blocks "
					"where another "
					"split wins differs from GPU to GPU, so measure it" });
}

/* The model's cost, or what the counters measured where that is less: more cannot have been lost. */
static int64_t cost_of(const struct fw_device_ledger *device, double model, bool *is_measured)
{
	int64_t measured = fw_measured_empty_ns(device);

	*is_measured = measured >= 0 && (double)measured < model;
	return *is_measured ? measured : (int64_t)model;
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	double few = 0, tail = 0, sum = 0;
	struct fw_finding *f;
	bool is_measured;
	int64_t cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_low_fill, FW_BLIND_NO_DEVICE_PROPERTIES,
			  "the GPU's number of SMs"))
		return;
	for (size_t i = 0; i < device->kernel_count; i++) {
		struct loss loss = loss_of(ledger, device, &device->kernels[i]);

		if (is_computing(ledger, &device->kernels[i]))
			sum += (double)device->kernels[i].total_ns;
		*(loss.is_tail ? &tail : &few) += loss.lost_ns;
	}
	/* Where kernels overlap, one fills what another leaves: only the time that passed can be lost. */
	if (sum > (double)device->ns[FW_CLASS_COMPUTE]) {
		few *= (double)device->ns[FW_CLASS_COMPUTE] / sum;
		tail *= (double)device->ns[FW_CLASS_COMPUTE] / sum;
	}
	cost = cost_of(device, few + tail, &is_measured);
	if (cost <= 0)
		return;
	f = fw_finding_add(findings, &fw_rule_low_fill, d,
			   is_measured ? "Kernels leave SMs without work (measured)"
				       : "Kernels leave SMs without work (a model)");
	fw_finding_cost(f, device, cost, fw_gpu_bound(ledger, findings, d, cost));
	fw_finding_evidence(findings, f, NULL, "time of empty SMs (model: blocks take equal time)",
			    "too few blocks %s, last waves %s", fw_ns_text(findings, (int64_t)few),
			    fw_ns_text(findings, (int64_t)tail));
	fw_measured_evidence(ledger, d, findings, f);
	add_rows(ledger, device, findings, f);
	add_changes(findings, f, few, tail);
}

const struct fw_rule fw_rule_low_fill = {
	.id = "low-fill",
	.summary = "Grids leave SMs without work: too few blocks, or a tail (a model)",
	.clause = "kernels left part of it without work",
	.look = look,
};
