/* Matrix products and convolutions in fp32 on the ordinary cores of a GPU that has tensor cores. */
#include "rules/host.h"
#include "rules/measured.h"
#include "rules/precision.h"

#include <inttypes.h>

/* Compute capability x 10 from which tensor cores exist, and from which they take fp32 data (TF32). */
#define CC_TENSOR 70
#define CC_TF32   80

extern const struct fw_rule fw_rule_tensor_cores_unused;

static void add_changes(struct fw_findings *findings, struct fw_finding *f, int32_t cc)
{
	if (cc >= CC_TF32)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Let fp32 matrix products use tensor cores (TF32).",
				.pytorch = "torch.set_float32_matmul_precision(\"high\")\n"
					   "torch.backends.cudnn.allow_tf32 = True  # "
					   "convolutions: the default",
				.cuda = "cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);",
				.when = "10 bits of mantissa in the products are enough for this "
					"model: compare "
					"its accuracy. Small or odd sizes (not multiples of 4) may "
					"not use "
					"them" });
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Compute in half precision or bfloat16 where the model allows it.",
			.pytorch =
				cc >= CC_TF32
					? "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
					  "    loss = loss_fn(model(x), y)"
					: "scaler = torch.amp.GradScaler(\"cuda\")\n"
					  "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
					  "    loss = loss_fn(model(x), y)\n"
					  "scaler.scale(loss).backward(); scaler.step(optimizer); "
					  "scaler.update()",
			.when = "sizes are multiples of 8, and the accuracy holds. Only time in "
				"these "
				"kernels shrinks: where the host is the limit, nothing is "
				"gained" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	int32_t cc = ledger->trace->devices.cc[device->device];
	struct fw_precision p;
	struct fw_finding *f;

	fw_precision_measure(&p, ledger, device);
	if (p.fp32_ns && cc < 0)
		fw_findings_unable(
			findings, &fw_rule_tensor_cores_unused, "the GPU's model",
			fw_blind_spot_remedy(ledger->trace, FW_BLIND_NO_DEVICE_PROPERTIES));
	if (p.fp32_ns && cc >= CC_TENSOR && !ledger->trace->devices.is_amd[device->device]) {
		f = fw_finding_add(findings, &fw_rule_tensor_cores_unused, d,
				   "Matrix kernels run in fp32 without tensor cores");
		fw_finding_cost(f, device, p.fp32_ns, fw_gpu_bound(ledger, findings, d, p.fp32_ns));
		fw_finding_evidence(
			findings, f, NULL, "matrix kernels, as their names tell it",
			"fp32 %s, TF32 %s, half or narrower %s", fw_ns_text(findings, p.fp32_ns),
			fw_ns_text(findings, p.tf32_ns), fw_ns_text(findings, p.narrow_ns));
		fw_measured_evidence(ledger, d, findings, f);
		fw_places_report(&p.fp32, ledger, findings, f, "fp32 without tensor cores");
		add_changes(findings, f, cc);
	}
	findings->failed |= p.fp32.failed || p.tf32.failed;
	fw_precision_release(&p);
}

const struct fw_rule fw_rule_tensor_cores_unused = {
	.id = "tensor-cores-unused",
	.summary = "fp32 matrix kernels on the ordinary cores of a GPU with tensor cores",
	.clause = "it ran fp32 matrix kernels without tensor cores",
	.look = look,
};
