#include "tune/candidates.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Under it, few warps hide little latency: a sign, no proof. */
#define LOW_OCCUPANCY 0.5

/* Shares under this are not worth a word. */
#define SIGN_LEAST 0.05

/* What tells lies in front, and a name may be very long. */
#define NAME_BYTES 512

/* Parts of names, lower case; the first that stands in the name decides. Sources: the names in recorded traces. */
static const struct {
	const char *part;
	enum fw_tune_owner owner;
} owners[] = {
	{ "nccl", FW_TUNE_COLLECTIVE },
	{ "rccl", FW_TUNE_COLLECTIVE },
	{ "nvshmem", FW_TUNE_COLLECTIVE },
	{ "flash_fwd", FW_TUNE_ATTENTION },
	{ "flash_bwd", FW_TUNE_ATTENTION },
	{ "flashattn", FW_TUNE_ATTENTION },
	{ "flashinfer", FW_TUNE_ATTENTION },
	{ "fmha", FW_TUNE_ATTENTION },
	{ "attn_fwd", FW_TUNE_ATTENTION },
	{ "attn_bwd", FW_TUNE_ATTENTION },
	{ "paged_attention", FW_TUNE_ATTENTION },
	{ "unified_attention", FW_TUNE_ATTENTION },
	{ "cudnn", FW_TUNE_CUDNN },
	{ "fprop", FW_TUNE_CUDNN },
	{ "dgrad", FW_TUNE_CUDNN },
	{ "wgrad", FW_TUNE_CUDNN },
	{ "implicit_convolve", FW_TUNE_CUDNN },
	{ "winograd", FW_TUNE_CUDNN },
	{ "nchwtonhwc", FW_TUNE_CUDNN },
	{ "nhwctonchw", FW_TUNE_CUDNN },
	{ "bn_fw_", FW_TUNE_CUDNN },
	{ "bn_bw_", FW_TUNE_CUDNN },
	{ "convolve_sgemm", FW_TUNE_CUDNN },
	{ "cutlass", FW_TUNE_CUTLASS },
	{ "bmm_", FW_TUNE_CUTLASS }, /* TensorRT-LLM's compiled products */
	{ "cublas", FW_TUNE_BLAS },
	{ "nvjet", FW_TUNE_BLAS },
	{ "xmma_gemm", FW_TUNE_BLAS },
	{ "splitkreduce", FW_TUNE_BLAS },
	{ "gemmsn", FW_TUNE_BLAS },
	{ "gemvx", FW_TUNE_BLAS },
	{ "gemv2t", FW_TUNE_BLAS },
	{ "gemvnsp", FW_TUNE_BLAS },
	{ "gemm_largek", FW_TUNE_BLAS },
	{ "ampere_", FW_TUNE_BLAS },
	{ "volta_", FW_TUNE_BLAS },
	{ "turing_", FW_TUNE_BLAS },
	{ "_gemm_", FW_TUNE_BLAS },
	{ "cijk_", FW_TUNE_BLAS }, /* rocBLAS */
	{ "triton", FW_TUNE_TRITON },
	{ "_matmul_ogs", FW_TUNE_TRITON },
	{ "at::native", FW_TUNE_FRAMEWORK },
	{ "at6native", FW_TUNE_FRAMEWORK },
	{ "2at4cuda", FW_TUNE_FRAMEWORK },
	{ "at::cuda", FW_TUNE_FRAMEWORK },
	{ "at::generic", FW_TUNE_FRAMEWORK },
	{ "softmax_warp_", FW_TUNE_FRAMEWORK },
	{ "c10::", FW_TUNE_FRAMEWORK },
	{ "caffe2", FW_TUNE_FRAMEWORK },
	{ "fbgemm_gpu", FW_TUNE_FRAMEWORK },
	{ "split_embedding", FW_TUNE_FRAMEWORK },
	{ "vllm::", FW_TUNE_FRAMEWORK },
	{ "tensorrt_llm", FW_TUNE_FRAMEWORK },
	{ "moe::dev", FW_TUNE_FRAMEWORK },
	{ "sgl_", FW_TUNE_FRAMEWORK },
	{ "aiter", FW_TUNE_FRAMEWORK },
	{ "ck_tile", FW_TUNE_FRAMEWORK },
	{ "rocprim", FW_TUNE_FRAMEWORK },
	{ "cub::", FW_TUNE_FRAMEWORK },
	{ "3cub", FW_TUNE_FRAMEWORK },
	{ "thrust::", FW_TUNE_FRAMEWORK },
	{ "6thrust", FW_TUNE_FRAMEWORK },
	{ "tensorflow", FW_TUNE_FRAMEWORK },
	{ "5eigen", FW_TUNE_FRAMEWORK },
	{ "eigen::", FW_TUNE_FRAMEWORK },
};

static void lower(char to[NAME_BYTES], const char *name)
{
	size_t i = 0;

	for (; name[i] && i + 1 < NAME_BYTES; i++)
		to[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
	to[i] = '\0';
}

enum fw_tune_owner fw_tune_owner_of(const char *kernel)
{
	char name[NAME_BYTES];

	lower(name, kernel);
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (strstr(name, owners[i].part))
			return owners[i].owner;
	return FW_TUNE_OWN;
}

const char *fw_tune_owner_name(enum fw_tune_owner owner)
{
	switch (owner) {
	case FW_TUNE_OWN: return "own";
	case FW_TUNE_BLAS: return "cuBLAS and the like";
	case FW_TUNE_CUDNN: return "cuDNN";
	case FW_TUNE_CUTLASS: return "CUTLASS";
	case FW_TUNE_ATTENTION: return "fused attention";
	case FW_TUNE_TRITON: return "Triton";
	case FW_TUNE_COLLECTIVE: return "NCCL";
	case FW_TUNE_FRAMEWORK: return "framework or its libraries";
	default: return "unknown";
	}
}

const char *fw_tune_owner_reason(enum fw_tune_owner owner)
{
	switch (owner) {
	case FW_TUNE_BLAS:
		return "the library chooses among compiled kernels with fixed blocks; shapes that "
		       "are "
		       "multiples of 8, and cuBLASLt's algorithm search, change its choice";
	case FW_TUNE_CUDNN:
		return "the library chooses among compiled kernels with fixed blocks; "
		       "torch.backends.cudnn.benchmark = True lets it measure them";
	case FW_TUNE_CUTLASS:
		return "tile and block are template arguments of the compiled kernel; "
		       "cutlass_profiler, or the caller's own search, compares instances";
	case FW_TUNE_ATTENTION:
		return "tiles are fixed when it is compiled; another implementation or version is "
		       "the "
		       "choice";
	case FW_TUNE_TRITON:
		return "num_warps and block are fixed when Triton compiles it; @triton.autotune or "
		       "torch.compile(mode=\"max-autotune\") searches them";
	case FW_TUNE_COLLECTIVE:
		return "its grid is the number of channels, which waits for links, not for SMs";
	case FW_TUNE_FRAMEWORK:
		return "the framework sets block and grid in its own source; fusing such kernels "
		       "(torch.compile) saves more than another block";
	default: return NULL;
	}
}

static double blocks_of(const struct fw_trace *trace, uint32_t shape)
{
	const struct fw_trace_shapes *s = &trace->shapes;

	return (double)s->grid_x[shape] * s->grid_y[shape] * s->grid_z[shape];
}

/* A model: blocks take equal time. Nothing of a kernel that fills the GPU once: it may be persistent. */
static void find_grid_loss(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			   struct fw_tune_candidate *c)
{
	double sms = ledger->trace->devices.sms[device->device];
	double blocks = blocks_of(ledger->trace, c->row->shape), whole, left;

	if (sms <= 0 || blocks < 1)
		return;
	c->empty_sms = blocks < sms ? 1 - blocks / sms : 0;
	if (c->row->waves < 0 || c->row->blocks_per_sm <= 0)
		return;
	c->tail = 0;
	if (c->row->waves <= 1)
		return;
	whole = floor(c->row->waves);
	left = blocks - whole * sms * c->row->blocks_per_sm;
	if (left > 0)
		c->tail = (1 - left / (sms * c->row->blocks_per_sm)) / (whole + 1);
}

static void find_idle_lanes(const struct fw_trace *trace, struct fw_tune_candidate *c)
{
	const struct fw_trace_shapes *s = &trace->shapes;
	uint32_t shape = c->row->shape;
	double threads = (double)s->block_x[shape] * s->block_y[shape] * s->block_z[shape];
	double lanes = 32 * ceil(threads / 32);

	if (threads >= 1)
		c->idle_lanes = 1 - threads / lanes;
}

double fw_tune_kernels_ns(const struct fw_device_ledger *device)
{
	double sum = 0;

	for (size_t i = 0; i < device->kernel_count; i++)
		sum += (double)device->kernels[i].total_ns;
	return sum;
}

struct fw_tune_candidate fw_tune_candidate_of(const struct fw_ledger *ledger,
					      const struct fw_device_ledger *device, size_t row,
					      double all_ns)
{
	struct fw_tune_candidate c = {
		.row = &device->kernels[row], .empty_sms = -1, .tail = -1, .idle_lanes = -1
	};

	c.share = all_ns > 0 ? (double)c.row->total_ns / all_ns : 0;
	c.owner = fw_tune_owner_of(fw_trace_text(ledger->trace, c.row->name));
	c.has_low_occupancy = c.row->occupancy >= 0 && c.row->occupancy < LOW_OCCUPANCY;
	if (c.row->shape == FW_NONE)
		return c;
	find_grid_loss(ledger, device, &c);
	if (!ledger->trace->devices.is_amd[device->device])
		find_idle_lanes(ledger->trace, &c);
	return c;
}

bool fw_tune_has_sign(const struct fw_tune_candidate *c)
{
	return c->empty_sms >= SIGN_LEAST || c->tail >= SIGN_LEAST || c->idle_lanes >= SIGN_LEAST ||
	       c->has_low_occupancy;
}
