/* Sums the time of matrix kernels by precision. */
#include "rules/precision.h"

#include "rules/gpu_time.h"

void fw_precision_measure(struct fw_precision *precision, const struct fw_ledger *ledger,
			  const struct fw_device_ledger *device)
{
	const struct fw_trace *t = ledger->trace;
	struct fw_map kinds = { 0 }; /* name -> kind, since names repeat */

	*precision = (struct fw_precision){ .fp32 = FW_PLACES, .tf32 = FW_PLACES };
	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t op = device->ops[i], name = t->ops.name[op];
		int64_t ns = fw_op_in_window(ledger, device, op);
		bool inserted;
		uint64_t *kind;

		if (t->ops.owner[op] != FW_CLASS_COMPUTE || !ns)
			continue;
		kind = fw_map_at(&kinds, name, 0, &inserted);
		if (!kind) {
			precision->fp32.failed = true;
			break;
		}
		if (inserted)
			*kind = fw_matrix_kind(fw_trace_text(t, name));
		if (*kind == FW_MATRIX_FP32) {
			precision->fp32_ns += ns;
			fw_places_add(&precision->fp32, name, ns);
		} else if (*kind == FW_MATRIX_TF32) {
			precision->tf32_ns += ns;
			fw_places_add(&precision->tf32, name, ns);
		} else if (*kind == FW_MATRIX_NARROW) {
			precision->narrow_ns += ns;
		}
	}
	fw_map_release(&kinds);
}

void fw_precision_release(struct fw_precision *precision)
{
	fw_places_release(&precision->fp32);
	fw_places_release(&precision->tf32);
}
