/* Groups of host calls and their costs. */
#include "rules/call_groups.h"

#include <stdlib.h>

struct fw_call_group *fw_call_groups_at(struct fw_call_groups *groups, uint32_t name,
					uint32_t place)
{
	bool inserted;
	uint64_t *at = fw_map_at(&groups->index, name, place, &inserted);
	struct fw_call_group *group;

	if (at && inserted) {
		group = fw_vec_push(&groups->list);
		if (group) {
			group->name = name;
			group->place = place;
			group->calls = (struct fw_vec)FW_VEC(uint32_t);
			*at = groups->list.len - 1;
		}
	}
	if (!at || *at >= groups->list.len) {
		groups->failed = true;
		return NULL;
	}
	return (struct fw_call_group *)groups->list.data + *at;
}

void fw_call_groups_add(struct fw_call_groups *groups, struct fw_call_group *group, uint32_t call)
{
	uint32_t *mine = group ? fw_vec_push(&group->calls) : NULL;
	uint32_t *all = fw_vec_push(&groups->calls);

	if (!mine || !all) {
		groups->failed = true;
		return;
	}
	*mine = *all = call;
}

static int dearest_first(const void *a, const void *b)
{
	const struct fw_call_group *x = a, *y = b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void fw_call_groups_sort(struct fw_call_groups *groups)
{
	if (groups->list.len)
		qsort(groups->list.data, groups->list.len, sizeof(struct fw_call_group),
		      dearest_first);
}

int64_t fw_call_groups_rank(struct fw_call_groups *groups, const struct fw_ledger *ledger,
			    const struct fw_device_ledger *device)
{
	struct fw_call_group *list = groups->list.data;

	for (size_t i = 0; i < groups->list.len; i++)
		list[i].cost_ns = fw_cost_of_calls(ledger, device, list[i].calls.data,
						   list[i].calls.len, NULL);
	fw_call_groups_sort(groups);
	return fw_cost_of_calls(ledger, device, groups->calls.data, groups->calls.len, NULL);
}

void fw_call_groups_release(struct fw_call_groups *groups)
{
	struct fw_call_group *list = groups->list.data;

	for (size_t i = 0; i < groups->list.len; i++)
		fw_vec_release(&list[i].calls);
	fw_vec_release(&groups->list);
	fw_vec_release(&groups->calls);
	fw_map_release(&groups->index);
}
