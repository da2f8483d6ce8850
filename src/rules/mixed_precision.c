/* Matrix work of fp32 data that half precision would do in less than half of the time. */
#include "rules/host.h"
#include "rules/precision.h"

/* Compute capability x 10 from which bfloat16 runs on tensor cores, and from which half does. */
#define CC_BF16 80
#define CC_HALF 70

extern const struct fw_rule fw_rule_mixed_precision;

static void add_changes(struct fw_findings *findings, struct fw_finding *f, int32_t cc)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = cc >= CC_BF16 ? "Run the model under autocast in bfloat16."
					      : "Run the model under autocast in half precision.",
			.pytorch =
				cc >= CC_BF16
					? "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
					  "    loss = loss_fn(model(x), y)"
					: "scaler = torch.amp.GradScaler(\"cuda\")\n"
					  "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
					  "    loss = loss_fn(model(x), y)\n"
					  "scaler.scale(loss).backward(); scaler.step(optimizer); "
					  "scaler.update()",
			.when = "the accuracy holds (bfloat16 needs no loss scaling, half does), "
				"and the GPU "
				"is the limit: in a recorded loop whose host was the limit, half "
				"precision "
				"gained nothing" });
	fw_finding_change(findings, f,
			  &(struct fw_change){
				  .text = "Convolutions: keep images in channels-last order, which "
					  "half precision needs "
					  "to be fast.",
				  .pytorch = "model = model.to(memory_format=torch.channels_last)\n"
					     "x = x.to(memory_format=torch.channels_last)",
				  .when = "the model is convolutional" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	int32_t cc = ledger->trace->devices.cc[device->device];
	struct fw_precision p;
	struct fw_finding *f;
	int64_t cost;

	fw_precision_measure(&p, ledger, device);
	/*
	 * Half data moves half the bytes, and tensor cores multiply it at twice the rate of TF32: half of
	 * the time. From the ordinary cores the ratio is 8 and more: nearly all of it.
	 */
	cost = p.tf32_ns / 2 + p.fp32_ns;
	if (cost && cc < 0)
		fw_findings_unable(
			findings, &fw_rule_mixed_precision, "the GPU's model",
			fw_blind_spot_remedy(ledger->trace, FW_BLIND_NO_DEVICE_PROPERTIES));
	if (cost && cc >= CC_HALF && !ledger->trace->devices.is_amd[device->device]) {
		f = fw_finding_add(findings, &fw_rule_mixed_precision, d,
				   "Matrix kernels work on fp32 data");
		fw_finding_cost(f, device, cost, fw_gpu_bound(ledger, findings, d, cost));
		fw_finding_evidence(
			findings, f, NULL, "matrix kernels, as their names tell it",
			"fp32 %s, TF32 %s, half or narrower %s", fw_ns_text(findings, p.fp32_ns),
			fw_ns_text(findings, p.tf32_ns), fw_ns_text(findings, p.narrow_ns));
		fw_finding_evidence(findings, f, NULL, "cost (a model)",
				    "half of the TF32 time, all of the fp32 time");
		fw_places_report(&p.tf32, ledger, findings, f, "TF32 on tensor cores");
		fw_places_report(&p.fp32, ledger, findings, f, "fp32 without tensor cores");
		add_changes(findings, f, cc);
	}
	findings->failed |= p.fp32.failed || p.tf32.failed;
	fw_precision_release(&p);
}

const struct fw_rule fw_rule_mixed_precision = {
	.id = "mixed-precision",
	.summary = "Matrix kernels work on fp32 data that half precision would do faster",
	.clause = "it computed in fp32 what half precision does faster",
	.look = look,
};
