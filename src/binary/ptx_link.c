/* What the kernels of a PTX module take over everything they call. */
#include "binary/ptx.h"

/* Functions and references looked at for all kernels of a module; real modules need thousands. */
#define MOST_STEPS (UINT64_C(1) << 26)

struct walk {
	struct fw_ptx_module *module;
	struct fw_vec todo, vars; /* uint32_t: function numbers; variable numbers */
	uint64_t steps;
	uint32_t kernel; /* function number + 1 */
	struct fw_kernel *out;
	bool has_unknown_smem, has_unknown_barriers;
	/* What an indirect call, which may reach any function, leaves unknown. */
	bool hides_smem, hides_barriers;
};

static bool push(struct fw_vec *vec, uint32_t number)
{
	uint32_t *place = fw_vec_push(vec);

	if (!place)
		return false;
	*place = number;
	return true;
}

/* Whatever the function itself does, the kernel does. */
static void add_function(struct walk *walk, const struct fw_ptx_func *func)
{
	struct fw_kernel *out = walk->out;

	if (!func->has_body && !func->is_builtin)
		walk->has_unknown_smem = walk->has_unknown_barriers = true;
	if (func->has_indirect_call) {
		walk->has_unknown_smem |= walk->hides_smem;
		walk->has_unknown_barriers |= walk->hides_barriers;
	}
	if (func->barriers < 0)
		walk->has_unknown_barriers = true;
	else if (func->barriers > out->barriers)
		out->barriers = func->barriers;
	if (func->has_setmaxnreg)
		out->setmaxnreg = 1;
	if (func->tcgen05 > out->tcgen05)
		out->tcgen05 = func->tcgen05;
}

static void judge_indirect_calls(struct walk *walk)
{
	const struct fw_ptx_func *funcs = walk->module->funcs.data;

	walk->hides_smem = walk->module->has_shared_func;
	for (size_t i = 0; i < walk->module->funcs.len; i++) {
		if (funcs[i].kernel != SIZE_MAX || funcs[i].is_builtin)
			continue;
		walk->hides_smem |= !funcs[i].has_body;
		walk->hides_barriers |= !funcs[i].has_body || funcs[i].barriers;
	}
}

static bool add_reference(struct walk *walk, uint32_t ref)
{
	struct fw_ptx_func *func;

	if (!(ref & FW_PTX_FUNC_REF))
		return push(&walk->vars, ref);
	func = (struct fw_ptx_func *)walk->module->funcs.data + (ref & ~FW_PTX_FUNC_REF);
	if (func->visited_by == walk->kernel)
		return true;
	func->visited_by = walk->kernel;
	return push(&walk->todo, ref & ~FW_PTX_FUNC_REF);
}

static fw_status visit(struct walk *walk, struct fw_error *err)
{
	const uint32_t *refs = walk->module->refs.data;

	while (walk->todo.len) {
		uint32_t number = ((uint32_t *)walk->todo.data)[--walk->todo.len];
		const struct fw_ptx_func *func =
			(struct fw_ptx_func *)walk->module->funcs.data + number;

		walk->steps += 1 + func->ref_count;
		if (walk->steps > MOST_STEPS)
			return fw_fail(err, FW_ERR_UNSUPPORTED,
				       "the functions' calls are too many to follow");
		add_function(walk, func);
		for (uint32_t i = 0; i < func->ref_count; i++) {
			if (!add_reference(walk, refs[func->first_ref + i]))
				return fw_fail_nomem(err, sizeof(uint32_t));
		}
	}
	return FW_OK;
}

/*
 * Variables that other modules may name come first, with those of functions that they may call behind
 * them; then the kernel's own, the module's, and those of its functions.
 */
static int place_of(const struct walk *walk, uint32_t number)
{
	const struct fw_ptx_var *var = (struct fw_ptx_var *)walk->module->vars.data + number;

	if (var->linkage != FW_PTX_STATIC)
		return var->function ? 1 : 0;
	if (var->function == walk->kernel)
		return 2;
	return var->function ? 4 : 3;
}

static int compare_places(const void *a, const void *b, void *walk)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = place_of(walk, x) - place_of(walk, y);

	return order ? order : (x > y) - (x < y);
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
	uint64_t rest = align ? value % align : 0;

	return rest ? value + align - rest : value;
}

/*
 * As ptxas lays the variables out: by place_of, then in the order of their declarations. Where the
 * module declares memory sized by the launch, which comes behind, the end is padded.
 */
static void lay_out(struct walk *walk)
{
	const struct fw_ptx_var *vars = walk->module->vars.data;
	const uint32_t *numbers = walk->vars.data;
	uint64_t bytes = 0;

	if (walk->vars.len)
		qsort_r(walk->vars.data, walk->vars.len, sizeof(uint32_t), compare_places, walk);
	for (size_t i = 0; i < walk->vars.len; i++) {
		if (i && numbers[i] == numbers[i - 1])
			continue;
		if (vars[numbers[i]].is_dynamic) {
			walk->out->uses_dynamic_smem = 1;
		} else if (bytes <= INT32_MAX) {
			bytes = round_up(bytes, vars[numbers[i]].align) + vars[numbers[i]].bytes;
		}
	}
	bytes = round_up(bytes, walk->module->dynamic_align);
	walk->out->static_smem = bytes <= INT32_MAX ? (int)bytes : FW_UNKNOWN;
}

static fw_status link_kernel(struct walk *walk, uint32_t number, struct fw_error *err)
{
	fw_status status;

	walk->kernel = number + 1;
	walk->vars.len = walk->todo.len = 0;
	walk->has_unknown_smem = walk->has_unknown_barriers = false;
	walk->out->barriers = walk->out->setmaxnreg = walk->out->tcgen05 = 0;
	walk->out->uses_dynamic_smem = 0;
	if (!add_reference(walk, number | FW_PTX_FUNC_REF))
		return fw_fail_nomem(err, sizeof(uint32_t));
	status = visit(walk, err);
	if (status != FW_OK)
		return status;
	lay_out(walk);
	if (walk->has_unknown_smem)
		walk->out->static_smem = FW_UNKNOWN;
	if (walk->has_unknown_barriers)
		walk->out->barriers = FW_UNKNOWN;
	return FW_OK;
}

fw_status fw_ptx_link(struct fw_ptx_module *module, struct fw_error *err)
{
	struct walk walk = {
		.module = module,
		.todo = FW_VEC(uint32_t),
		.vars = FW_VEC(uint32_t),
	};
	const struct fw_ptx_func *funcs = module->funcs.data;
	struct fw_found *found = module->reader->found.data;
	fw_status status = FW_OK;

	judge_indirect_calls(&walk);
	for (size_t i = 0; status == FW_OK && i < module->funcs.len; i++) {
		if (funcs[i].kernel == SIZE_MAX)
			continue;
		walk.out = &found[funcs[i].kernel].kernel;
		status = link_kernel(&walk, (uint32_t)i, err);
	}
	fw_vec_release(&walk.todo);
	fw_vec_release(&walk.vars);
	return status;
}
