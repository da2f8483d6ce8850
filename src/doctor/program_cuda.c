/* program-cuda: the CUDA that the program of --for brings or loads, against the driver. */
#include "doctor/loader.h"
#include "doctor/program.h"
#include "doctor/runtime.h"

#include <string.h>

#define SONAME "libcudart.so."

/* The newest toolkit among the program's cubins, 124; 0: none tells. */
static unsigned newest_toolkit(const struct fw_binary *binary)
{
	int newest = 0;

	for (size_t i = 0; binary && i < binary->image_count; i++)
		if (binary->images[i].toolkit > newest && binary->images[i].toolkit < 1000)
			newest = binary->images[i].toolkit;
	return (unsigned)newest;
}

/* Of the libcudart that the program will load; NULL: not found, or its version is not told. */
static const char *loaded_version(struct fw_host *host, const char *program)
{
	const struct fw_loader_object *cudart;
	struct fw_loader loader;

	if (!fw_loader_follow(host, program, &loader, NULL))
		return NULL;
	cudart = fw_loader_find(&loader, "libcudart.so", NULL);
	return cudart && cudart->path ? fw_cuda_library_version(host, cudart->path) : NULL;
}

static void judge_file(struct fw_host *host, struct fw_doctor_result *result,
		       const struct fw_program *program)
{
	const char *soname = program->file.data ? memmem(program->file.data, program->file.size,
							 SONAME, strlen(SONAME))
						: NULL;
	unsigned toolkit = newest_toolkit(program->binary);
	char number[8] = "";
	uint64_t major = 0;

	if (soname && program->file.data + program->file.size >
			      (const unsigned char *)soname + strlen(SONAME) + sizeof(number))
		memcpy(number, soname + strlen(SONAME), sizeof(number) - 1);
	if (*number && fw_host_number(number, &major) && major >= 9 && major < 100)
		fw_doctor_judge_cuda(host, result,
				     fw_host_text(host, "%s loads libcudart.so.%llu", program->path,
						  (unsigned long long)major),
				     (unsigned)major,
				     fw_cuda_of_version(loaded_version(host, program->path)));
	else if (toolkit)
		fw_doctor_judge_cuda(host, result,
				     fw_host_text(host, "%s has code of a toolkit", program->path),
				     toolkit / 10, toolkit);
	else
		fw_doctor_unknown(
			result, "%s: %s", program->path,
			program->why[0] && !program->binary
				? program->why
				: "it names no libcudart, and no cubin in it tells its toolkit");
}

void fw_check_program_cuda(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_program program;
	unsigned cuda;

	fw_program_open(host, true, &program);
	cuda = fw_cuda_of_version(program.torch.cuda);
	if (program.is_python && program.torch.site && !program.torch.cuda) {
		fw_doctor_problem(result, "PyTorch %s of %s is built without CUDA",
				  program.torch.version, host->program);
		fw_doctor_fix(result, "pip install torch --index-url "
				      "https://download.pytorch.org/whl/cu128");
	} else if (program.is_python && cuda) {
		fw_doctor_judge_cuda(host, result,
				     fw_host_text(host, "PyTorch %s of %s", program.torch.version,
						  host->program),
				     cuda / 10, cuda);
	} else if (program.is_python || !program.file.data) {
		fw_doctor_unknown(result, "%s", program.why);
	} else {
		judge_file(host, result, &program);
	}
	fw_program_release(&program);
}
