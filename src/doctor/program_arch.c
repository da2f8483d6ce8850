/* program-arch: whether the device code of the program of --for fits each GPU. */
#include "doctor/check.h"
#include "doctor/program.h"

#include <stdlib.h>
#include <string.h>

/* Pieces (containers) of device code: with a cubin that fits, with PTX alone, with neither. */
struct pieces {
	unsigned fit, jit, none;
};

static fw_status count_pieces(const struct fw_binary *binary, int cc, struct pieces *pieces)
{
	enum fw_load *load = calloc(binary->image_count + 1, sizeof(*load));
	enum fw_load best = FW_LOAD_NOT;
	bool has_code = false;

	*pieces = (struct pieces){ 0 };
	if (!load)
		return FW_ERR_NOMEM;
	fw_binary_choose(binary, cc, load);
	for (size_t i = 0; i < binary->image_count; i++) {
		const struct fw_image *image = &binary->images[i];

		if (load[i] != FW_LOAD_NOT)
			best = load[i];
		has_code = has_code || (!image->is_relocatable && image->kind <= FW_IMAGE_PTX);
		if (i + 1 < binary->image_count && image[1].container == image->container)
			continue;
		pieces->fit += best == FW_LOAD_CUBIN;
		pieces->jit += best == FW_LOAD_JIT;
		pieces->none += best == FW_LOAD_NOT && has_code;
		best = FW_LOAD_NOT;
		has_code = false;
	}
	free(load);
	return FW_OK;
}

static void judge_gpu(struct fw_doctor_result *result, const struct fw_program *program,
		      unsigned cc, const struct pieces *pieces)
{
	if (!pieces->fit && !pieces->jit && pieces->none) {
		fw_doctor_problem(result,
				  "%s: no image for sm_%u, and no PTX that could become one: "
				  "'no kernel image is available' (error 209)",
				  program->path, cc);
		fw_doctor_fix(result,
			      "build with -gencode arch=compute_%u,code=sm_%u, or take a build "
			      "that lists sm_%u",
			      cc, cc, cc);
	} else if (!pieces->fit && pieces->jit) {
		fw_doctor_problem(result,
				  "%s: no image for sm_%u: the driver compiles its PTX at the "
				  "first start, which takes long and fails where the PTX is newer "
				  "than the driver (error 222)",
				  program->path, cc);
		fw_doctor_fix(result,
			      "build with -gencode arch=compute_%u,code=sm_%u; until then keep "
			      "the compiled code: CUDA_CACHE_MAXSIZE=4294967296",
			      cc, cc);
	} else if (!pieces->fit) {
		fw_doctor_unknown(result, "%s holds no device code that we can read",
				  program->path);
	} else {
		fw_doctor_ok(result,
			     "%s: %u piece%s of code for sm_%u, %u by PTX, %u for other GPUs "
			     "only",
			     program->path, pieces->fit, pieces->fit == 1 ? "" : "s", cc,
			     pieces->jit, pieces->none);
	}
}

void fw_check_program_arch(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_program program = { 0 };
	struct pieces pieces;

	if (!fw_doctor_has_gpus(host, result))
		return;
	fw_program_open(host, true, &program);
	if (!program.binary)
		fw_doctor_unknown(result, "%s", program.why);
	for (unsigned i = 0; program.binary && i < host->gpus.read; i++) {
		const struct fw_nvml_figure *cc = &host->gpus.gpus[i].id.cc;

		if (!cc->is_known || cc->value > 999) {
			fw_doctor_unknown(result, "GPU %u: its compute capability is not known", i);
			break;
		}
		if (count_pieces(program.binary, (int)cc->value, &pieces)) {
			fw_doctor_unknown(result, "out of memory");
			break;
		}
		judge_gpu(result, &program, (unsigned)cc->value, &pieces);
		if (result->status != FW_DOCTOR_OK)
			break;
	}
	fw_program_release(&program);
}
