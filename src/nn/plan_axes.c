/* Dimensions as products of parts of samples, pixels and channels. */
#include "nn/plan_axes.h"

#include <string.h>

static void add_atom(struct fw_nn_axes *axes, struct fw_nn_atom atom)
{
	if (atom.size != 1)
		axes->atoms[axes->n_atoms++] = atom;
}

void fw_nn_axes_of(struct fw_nn_planner *p, uint32_t value, struct fw_nn_axes *axes)
{
	const struct fw_nn_place *place = &p->places[value];
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, place->tensor);
	uint32_t rank = p->shapes[value].rank;
	struct fw_nn_atom channels = { FW_NN_ATOM_CHANNEL, 1, t->c, 1 };
	struct fw_nn_atom pixels = { FW_NN_ATOM_PIXEL, 1, t->h * t->w, 1 };

	if (place->layout == FW_NN_AXES) {
		*axes = *place->axes;
		return;
	}
	*axes = (struct fw_nn_axes){ .rank = rank, .scale = 1 };
	add_atom(axes, (struct fw_nn_atom){ FW_NN_ATOM_SAMPLE, 0, t->n, 1 });
	if (place->layout != FW_NN_LAST)
		add_atom(axes, channels);
	if (rank == 4) {
		pixels.dim = place->layout == FW_NN_LAST ? 1 : 2;
		pixels.size = t->h;
		pixels.step = t->w;
		add_atom(axes, pixels);
		pixels.dim++;
		pixels.size = t->w;
		pixels.step = 1;
	} else if (place->layout == FW_NN_COLUMNS) {
		pixels.dim = 2;
	}
	add_atom(axes, pixels);
	channels.dim = rank - 1;
	if (place->layout == FW_NN_LAST)
		add_atom(axes, channels);
}

/* Neighbours in one dimension that are one part. */
static void merge(struct fw_nn_axes *axes)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < axes->n_atoms; i++) {
		struct fw_nn_atom *last = kept ? &axes->atoms[kept - 1] : NULL;
		const struct fw_nn_atom *next = &axes->atoms[i];

		if (last && last->dim == next->dim && last->kind == next->kind &&
		    last->step == next->size * next->step) {
			last->size *= next->size;
			last->step = next->step;
		} else {
			axes->atoms[kept++] = *next;
		}
	}
	axes->n_atoms = kept;
}

/* Whether the atoms are samples in dimension 0, pixels in dimension 1 of three, channels in the last. */
static bool is_last(struct fw_nn_planner *p, uint32_t tensor, const struct fw_nn_axes *axes,
		    int64_t *c)
{
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, tensor);
	int64_t samples = 1, pixels = 1;

	*c = 1;
	for (uint32_t i = 0; i < axes->n_atoms; i++) {
		const struct fw_nn_atom *a = &axes->atoms[i];

		if (a->step != 1)
			return false;
		if (a->kind == FW_NN_ATOM_SAMPLE && a->dim == 0)
			samples = a->size;
		else if (a->kind == FW_NN_ATOM_PIXEL && a->dim == 1 && axes->rank == 3)
			pixels = a->size;
		else if (a->kind == FW_NN_ATOM_CHANNEL && a->dim == axes->rank - 1)
			*c = a->size;
		else
			return false;
	}
	return axes->stage == FW_NN_STAGE_PLAIN && axes->scale == 1 && axes->rank >= 2 &&
	       axes->rank <= 3 && samples == t->n && pixels == t->h * t->w;
}

fw_status fw_nn_axes_place(struct fw_nn_planner *p, uint32_t value, uint32_t tensor,
			   struct fw_nn_axes *axes, struct fw_error *err)
{
	struct fw_nn_draft_tensor view = fw_nn_draft_view(p, tensor, value);
	struct fw_nn_axes *kept;
	int64_t c;

	merge(axes);
	if (!is_last(p, tensor, axes, &c)) {
		kept = fw_arena_alloc(&p->scratch, sizeof(*kept));
		if (!kept)
			return fw_fail_nomem(err, sizeof(*kept));
		*kept = *axes;
		p->places[value] = (struct fw_nn_place){ tensor, FW_NN_AXES, kept };
		return FW_OK;
	}
	p->places[value] = (struct fw_nn_place){ tensor, FW_NN_LAST, NULL };
	if (c == view.c && view.w == 1)
		return FW_OK;
	view.shift = axes->first_channel;
	view.h *= view.w;
	view.w = 1;
	view.c = view.padded_c = c;
	return fw_nn_alias(p, value, FW_NN_LAST, &view, err);
}

bool fw_nn_axes_are_rows(struct fw_nn_planner *p, uint32_t tensor, const struct fw_nn_axes *axes)
{
	int64_t c = 1;

	if (axes->stage != FW_NN_STAGE_PLAIN || axes->scale != 1 || axes->first_channel)
		return false;
	for (uint32_t i = 0; i < axes->n_atoms; i++) {
		const struct fw_nn_atom *a = &axes->atoms[i];

		if ((a->kind == FW_NN_ATOM_CHANNEL) != (a->dim == axes->rank - 1) ||
		    (a->kind == FW_NN_ATOM_CHANNEL && a->step != 1))
			return false;
		c = a->kind == FW_NN_ATOM_CHANNEL ? a->size : c;
	}
	return c == fw_nn_draft(p, tensor)->c;
}

static bool transpose(const struct fw_nn_node *node, struct fw_nn_axes *axes)
{
	const struct fw_nn_attr *perm = fw_nn_attr_find(node, "perm");
	struct fw_nn_axes from = *axes;

	if (!perm || perm->n != axes->rank)
		return false;
	axes->n_atoms = 0;
	for (uint32_t dim = 0; dim < axes->rank; dim++)
		for (uint32_t i = 0; i < from.n_atoms; i++)
			if (from.atoms[i].dim == perm->ints[dim]) {
				axes->atoms[axes->n_atoms] = from.atoms[i];
				axes->atoms[axes->n_atoms++].dim = dim;
			}
	return true;
}

/* Takes the atoms of one new dimension; splits the last one where it reaches into the next. */
static bool take_dimension(struct fw_nn_axes *from, uint32_t *next, int64_t size,
			   struct fw_nn_axes *to, uint32_t dim)
{
	while (size > 1) {
		struct fw_nn_atom *a = &from->atoms[*next], part = *a;

		if (*next == from->n_atoms || to->n_atoms == FW_NN_MAX_ATOMS)
			return false;
		if (size % a->size == 0) {
			(*next)++;
		} else if (a->size % size == 0) {
			part.size = size;
			part.step = a->step * (a->size / size);
			a->size /= size;
		} else {
			return false;
		}
		size /= part.size;
		part.dim = dim;
		to->atoms[to->n_atoms++] = part;
	}
	return size == 1;
}

static bool reshape(const struct fw_nn_shape *shape, struct fw_nn_axes *axes)
{
	struct fw_nn_axes from = *axes;
	uint32_t next = 0;

	axes->rank = shape->rank;
	axes->n_atoms = 0;
	for (uint32_t dim = 0; dim < shape->rank; dim++)
		if (!take_dimension(&from, &next, shape->dims[dim], axes, dim))
			return false;
	return next == from.n_atoms;
}

/* count of a dimension's channels from first on; keeps: the dimension stays, also with a count of 1. */
static bool cut(struct fw_nn_axes *axes, int64_t dim, int64_t first, int64_t count, bool keeps)
{
	struct fw_nn_atom *found = NULL;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < axes->n_atoms; i++) {
		if (axes->atoms[i].dim != dim)
			continue;
		if (found || axes->atoms[i].kind != FW_NN_ATOM_CHANNEL)
			return false;
		found = &axes->atoms[i];
	}
	if (!found || first < 0 || count < 1 || count > found->size - first)
		return false;
	axes->first_channel += first * found->step;
	found->size = count;
	for (uint32_t i = 0; i < axes->n_atoms; i++) {
		struct fw_nn_atom a = axes->atoms[i];

		a.dim -= !keeps && a.dim > dim;
		if (a.size != 1)
			axes->atoms[kept++] = a;
	}
	axes->n_atoms = kept;
	axes->rank -= !keeps;
	return true;
}

static bool gather(const struct fw_nn_planner *p, const struct fw_nn_node *n,
		   struct fw_nn_axes *axes)
{
	const struct fw_nn_value *index = &p->graph->values[n->inputs[1]];
	int64_t axis = fw_nn_attr_int(n, "axis", 0), at;

	if (!index->data || index->type != FW_NN_I64 || index->bytes != sizeof(int64_t) ||
	    p->shapes[n->inputs[1]].rank > 1)
		return false;
	at = *(const int64_t *)index->data;
	axis = axis < 0 ? axis + axes->rank : axis;
	at = at < 0 ? at + p->shapes[n->inputs[0]].dims[axis] : at;
	return cut(axes, axis, at, 1, p->shapes[n->inputs[1]].rank == 1);
}

/* A Slice of one dimension with step 1: found by what it changes, since inference has checked its bounds. */
static bool slice(const struct fw_nn_planner *p, const struct fw_nn_node *n,
		  struct fw_nn_axes *axes)
{
	const struct fw_nn_shape *from = &p->shapes[n->inputs[0]], *to = &p->shapes[n->outputs[0]];
	uint32_t n_starts, n_axes = 0, n_steps = 0;
	const int64_t *starts, *dims = NULL, *steps = NULL;
	int64_t axis, first;

	if (!fw_nn_ints(p, n, "starts", 1, &n_starts, &starts) || n_starts != 1)
		return false;
	if (fw_nn_ints(p, n, "axes", 3, &n_axes, &dims) && n_axes != 1)
		return false;
	if (fw_nn_ints(p, n, "steps", 4, &n_steps, &steps) && (n_steps != 1 || steps[0] != 1))
		return false;
	axis = n_axes ? dims[0] : 0;
	axis = axis < 0 ? axis + from->rank : axis;
	if (axis < 0 || axis >= from->rank)
		return false;
	first = starts[0] < 0 ? starts[0] + from->dims[axis] : starts[0];
	return cut(axes, axis, first, to->dims[axis], true);
}

static fw_status split(struct fw_nn_planner *p, uint32_t node, bool *is_view, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	int64_t axis = fw_nn_attr_int(n, "axis", 0), first = 0;
	uint32_t tensor = p->places[n->inputs[0]].tensor;

	axis = axis < 0 ? axis + p->shapes[n->inputs[0]].rank : axis;
	for (uint32_t i = 0; i < n->n_outputs; i++) {
		int64_t count = p->shapes[n->outputs[i]].dims[axis];
		struct fw_nn_axes axes;
		fw_status status;

		fw_nn_axes_of(p, n->inputs[0], &axes);
		*is_view = cut(&axes, axis, first, count, true);
		if (!*is_view)
			return FW_OK;
		status = fw_nn_axes_place(p, n->outputs[i], tensor, &axes, err);
		if (status)
			return status;
		first += count;
	}
	return FW_OK;
}

/* Whether the atoms give the shape that inference found. */
static bool agrees(const struct fw_nn_axes *axes, const struct fw_nn_shape *shape)
{
	struct fw_nn_shape left = *shape;

	for (uint32_t i = 0; i < axes->n_atoms; i++) {
		int64_t *dim = &left.dims[axes->atoms[i].dim];

		if (axes->rank != shape->rank || *dim % axes->atoms[i].size)
			return false;
		*dim /= axes->atoms[i].size;
	}
	for (uint32_t i = 0; i < left.rank; i++)
		if (left.dims[i] != 1)
			return false;
	return axes->rank == shape->rank;
}

fw_status fw_nn_axes_view(struct fw_nn_planner *p, uint32_t node, bool *is_view,
			  struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_axes axes;

	*is_view = false;
	if (n->op == FW_NN_SPLIT)
		return split(p, node, is_view, err);
	fw_nn_axes_of(p, n->inputs[0], &axes);
	switch (n->op) {
	case FW_NN_TRANSPOSE: *is_view = transpose(n, &axes); break;
	case FW_NN_GATHER: *is_view = gather(p, n, &axes); break;
	case FW_NN_SLICE: *is_view = slice(p, n, &axes); break;
	default: *is_view = reshape(&p->shapes[n->outputs[0]], &axes); break;
	}
	*is_view = *is_view && agrees(&axes, &p->shapes[n->outputs[0]]);
	if (!*is_view)
		return FW_OK;
	return fw_nn_axes_place(p, n->outputs[0], p->places[n->inputs[0]].tensor, &axes, err);
}
