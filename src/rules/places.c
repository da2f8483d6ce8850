/* Sums of time by name, and the evidence rows made of them. */
#include "rules/places.h"

#include "base/demangle.h"

#include <inttypes.h>
#include <stdlib.h>

/* Evidence names the first few places; the rest is in the table of kernels and in the ledger. */
#define PLACES_SHOWN 4

void fw_places_add(struct fw_places *places, uint32_t name, int64_t ns)
{
	bool inserted;
	uint64_t *at;
	struct fw_place *place;

	if (!ns) /* no evidence; and who finds no time in all need not release anything */
		return;
	at = fw_map_at(&places->index, name, 0, &inserted);
	if (at && inserted) {
		place = fw_vec_push(&places->list);
		if (place) {
			place->name = name;
			*at = places->list.len - 1;
		}
	}
	if (!at || *at >= places->list.len) {
		places->failed = true;
		return;
	}
	place = (struct fw_place *)places->list.data + *at;
	place->ns += ns;
	place->count++;
}

static int longest_first(const void *a, const void *b)
{
	const struct fw_place *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

void fw_places_report(struct fw_places *places, const struct fw_ledger *ledger,
		      struct fw_findings *findings, struct fw_finding *finding, const char *label)
{
	const struct fw_place *list = places->list.data;
	size_t shown = places->list.len < PLACES_SHOWN ? places->list.len : PLACES_SHOWN;

	if (places->list.len)
		qsort(places->list.data, places->list.len, sizeof(*list), longest_first);
	for (size_t i = 0; i < shown && list[i].ns > 0; i++)
		fw_finding_evidence(
			findings, finding,
			fw_demangle(&findings->arena, fw_trace_text(ledger->trace, list[i].name)),
			label, "%s, %" PRId64 " times", fw_ns_text(findings, list[i].ns),
			list[i].count);
	findings->failed |= places->failed;
	fw_places_release(places);
}

void fw_places_release(struct fw_places *places)
{
	fw_vec_release(&places->list);
	fw_map_release(&places->index);
	places->failed = false;
}

/* The name of what owned a piece of idle time; 0: nothing recorded. */
static uint32_t owner_name(const struct fw_trace *trace, const struct fw_idle *piece)
{
	if (piece->class_id == FW_CLASS_LAUNCH_LATENCY)
		return piece->next_op == FW_NONE ? 0 : trace->ops.name[piece->next_op];
	if (piece->call != FW_NONE)
		return trace->calls.name[piece->call];
	return piece->range == FW_NONE ? 0 : trace->ranges.name[piece->range];
}

void fw_places_of_class(struct fw_places *places, const struct fw_ledger *ledger,
			const struct fw_device_ledger *device, enum fw_class c)
{
	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];

		if (piece->class_id == c)
			fw_places_add(places, owner_name(ledger->trace, piece),
				      piece->end_ns - piece->start_ns);
	}
}
