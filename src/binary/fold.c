/* The kernels that the threads found -> one list, in the order of the files, equal ones once. */
#include "binary/opening.h"

#include <stdlib.h>

/* Names made to collide are listed again instead of searched for ever. */
#define MOST_PROBES 1024

struct folding {
	struct fw_opening *opening;
	struct fw_vec kernels, problems; /* struct fw_kernel, struct fw_binary_problem */
	uint64_t *hashes;                /* of each kernel */
	uint32_t *slots;                 /* kernel + 1 */
	size_t slot_count;
	struct fw_image *images;
	uint32_t *kernel_of_image;
	size_t image_count, instances;
};

static bool same_dims(const int a[3], const int b[3])
{
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool is_same(const struct fw_kernel *a, const struct fw_kernel *b)
{
	return a->target.cc == b->target.cc && a->target.suffix == b->target.suffix &&
	       a->kind == b->kind && a->is_provisional == b->is_provisional &&
	       a->registers == b->registers && a->register_cap == b->register_cap &&
	       a->min_blocks == b->min_blocks && a->static_smem == b->static_smem &&
	       a->uses_dynamic_smem == b->uses_dynamic_smem && a->barriers == b->barriers &&
	       same_dims(a->max_threads, b->max_threads) &&
	       same_dims(a->required_threads, b->required_threads) &&
	       same_dims(a->cluster, b->cluster) && a->max_cluster_rank == b->max_cluster_rank &&
	       a->has_explicit_cluster == b->has_explicit_cluster &&
	       a->blocks_are_clusters == b->blocks_are_clusters && a->stack == b->stack &&
	       a->frame == b->frame && a->spill_instructions == b->spill_instructions &&
	       a->setmaxnreg == b->setmaxnreg && a->tcgen05 == b->tcgen05 && a->vrc == b->vrc &&
	       !strcmp(a->name, b->name);
}

/* Kernels of one name for many targets, or with other figures, go to different places. */
static uint64_t hash_kernel(const struct fw_found *found)
{
	const struct fw_kernel *k = &found->kernel;
	uint64_t hash = found->hash;

	hash = fw_hash_u64(hash ^ ((uint64_t)(uint32_t)k->target.cc << 32 |
				   (uint32_t)k->target.suffix << 16 | (uint32_t)k->kind));
	hash = fw_hash_u64(hash ^
			   ((uint64_t)(uint32_t)k->registers << 32 | (uint32_t)k->static_smem));
	return fw_hash_u64(hash ^ ((uint64_t)(uint32_t)k->frame << 32 | (uint32_t)k->barriers));
}

/* The number of the kernel's equal, or of its new place; UINT32_MAX when memory is out. */
static uint32_t place_kernel(struct folding *f, const struct fw_found *found, uint32_t image)
{
	uint64_t hash = hash_kernel(found);
	struct fw_kernel *kernels = f->kernels.data, *kernel;
	uint32_t *slot = NULL;

	for (size_t probe = 0; probe < MOST_PROBES && probe < f->slot_count; probe++) {
		slot = f->slots + ((hash + probe) & (f->slot_count - 1));
		if (!*slot)
			break;
		if (f->hashes[*slot - 1] == hash && is_same(&kernels[*slot - 1], &found->kernel)) {
			kernels[*slot - 1].copies++;
			return *slot - 1;
		}
	}
	f->hashes[f->kernels.len] = hash;
	kernel = fw_vec_push(&f->kernels);
	if (!kernel)
		return UINT32_MAX;
	*kernel = found->kernel;
	kernel->image = image;
	if (slot && !*slot)
		*slot = (uint32_t)f->kernels.len;
	return (uint32_t)f->kernels.len - 1;
}

static bool add_problem(struct folding *f, const char *source, fw_status code, const char *message)
{
	struct fw_binary_problem *problem = fw_vec_push(&f->problems);

	if (problem)
		*problem = (struct fw_binary_problem){ source, code, message };
	return problem && message;
}

static bool add_image_problem(struct folding *f, const struct fw_image *image)
{
	static const char *const kinds[] = { "cubin", "PTX", "LTO-IR", "entry" };
	char target[FW_TARGET_TEXT];

	return add_problem(f, image->source, FW_ERR_FORMAT,
			   fw_arena_printf(&f->opening->arena, "%s %u for sm_%s at %#llx: %s",
					   kinds[image->kind], image->entry,
					   fw_target_text(image->target, target),
					   (unsigned long long)image->offset, image->error));
}

static bool add_image(struct folding *f, const struct fw_job *job, uint32_t first_container)
{
	uint32_t number = (uint32_t)f->image_count++;
	struct fw_image *image = f->images + number;
	const struct fw_found *found = NULL;

	*image = job->image;
	image->container += first_container;
	image->first_kernel = (uint32_t)f->instances;
	f->opening->result.kinds[image->kind]++;
	if (image->kernel_count)
		found = (struct fw_found *)f->opening->readers[job->worker].found.data + job->first;
	for (uint32_t i = 0; i < image->kernel_count; i++) {
		uint32_t kernel = place_kernel(f, &found[i], number);

		if (kernel == UINT32_MAX)
			return false;
		f->kernel_of_image[f->instances++] = kernel;
	}
	return !image->error || add_image_problem(f, image);
}

static bool add_source(struct folding *f, struct fw_source *source, uint32_t *containers)
{
	const struct fw_binary_problem *problems = source->problems.data;
	const struct fw_job *jobs = source->jobs.data;

	for (size_t i = 0; i < source->problems.len; i++) {
		if (!add_problem(f, problems[i].source, problems[i].code, problems[i].message))
			return false;
	}
	if (source->problems_dropped &&
	    !add_problem(f, source->label, FW_ERR_FORMAT,
			 fw_arena_printf(&f->opening->arena, "%zu more problems",
					 source->problems_dropped)))
		return false;
	for (size_t i = 0; i < source->jobs.len; i++) {
		if (!add_image(f, &jobs[i], *containers))
			return false;
	}
	*containers += source->containers;
	return true;
}

static bool fold(struct folding *f)
{
	const struct fw_binary_problem *problems = f->opening->paths.problems.data;
	uint32_t containers = 0;

	for (size_t i = 0; i < f->opening->paths.problems.len; i++) {
		if (!add_problem(f, problems[i].source, problems[i].code, problems[i].message))
			return false;
	}
	for (size_t i = 0; i < f->opening->order_count; i++) {
		struct fw_source *source = f->opening->order[i];

		if (!add_source(f, source, &containers))
			return false;
		/* Copied; only the text behind it is still needed. */
		fw_vec_release(&source->jobs);
		fw_vec_release(&source->problems);
	}
	return true;
}

/* Room for everything, before anything is joined. */
static bool reserve(struct folding *f)
{
	size_t images = 0, instances = 0;

	for (size_t i = 0; i < f->opening->order_count; i++) {
		const struct fw_source *source = f->opening->order[i];
		const struct fw_job *jobs = source->jobs.data;

		images += source->jobs.len;
		for (size_t k = 0; k < source->jobs.len; k++)
			instances += jobs[k].image.kernel_count;
	}
	if (images >= UINT32_MAX || instances >= UINT32_MAX)
		return false;
	for (f->slot_count = 16; f->slot_count < instances * 2;)
		f->slot_count *= 2;
	f->images = calloc(images + 1, sizeof(*f->images));
	f->kernel_of_image = calloc(instances + 1, sizeof(*f->kernel_of_image));
	f->hashes = calloc(instances + 1, sizeof(*f->hashes));
	f->slots = calloc(f->slot_count, sizeof(*f->slots));
	return f->images && f->kernel_of_image && f->hashes && f->slots;
}

fw_status fw_fold(struct fw_opening *opening, struct fw_error *err)
{
	struct folding f = {
		.opening = opening,
		.kernels = FW_VEC(struct fw_kernel),
		.problems = FW_VEC(struct fw_binary_problem),
	};
	bool is_done = reserve(&f) && fold(&f);
	struct fw_binary *result = &opening->result;

	/* Owned by the result from here on, complete or not. */
	result->kernels = f.kernels.data;
	result->kernel_count = f.kernels.len;
	result->images = f.images;
	result->image_count = f.image_count;
	result->kernel_of_image = f.kernel_of_image;
	result->instances = f.instances;
	result->problems = f.problems.data;
	result->problem_count = f.problems.len;
	free(f.hashes);
	free(f.slots);
	for (unsigned i = 0; i < opening->options.threads; i++)
		fw_vec_release(&opening->readers[i].found);
	return is_done ? FW_OK : fw_fail_nomem(err, f.instances * sizeof(struct fw_kernel));
}
