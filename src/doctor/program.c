#include "doctor/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void open_file(struct fw_host *host, bool with_code, struct fw_program *program)
{
	struct fw_error err = { 0 };
	char link[64];
	int fd = fw_host_open_file(host, program->path);

	if (fd < 0) {
		snprintf(program->why, sizeof(program->why), "%s: %s", program->path,
			 fw_host_error(errno));
		return;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fw_file_open(&program->file, link, &err) ||
	    (with_code && fw_binary_open_bytes(&program->binary, program->file.data,
					       program->file.size, program->path, NULL, &err)))
		snprintf(program->why, sizeof(program->why), "%s", err.message);
	close(fd);
}

void fw_program_open(struct fw_host *host, bool with_code, struct fw_program *program)
{
	struct fw_folders sites = { .count = 0 };

	*program = (struct fw_program){ .why = "--for names no program" };
	if (!host->program)
		return;
	program->is_python = fw_python_of_program(host, &sites);
	if (program->is_python) {
		program->torch = fw_torch_find(host, &sites);
		if (program->torch.site)
			program->path = fw_host_text(host, "%s/torch/lib/libtorch_cuda.so",
						     program->torch.site);
		else
			snprintf(program->why, sizeof(program->why), "%s has no PyTorch",
				 host->program);
	} else {
		program->path = strchr(host->program, '/') ? host->program
							   : fw_program_find(host, host->program);
		if (!program->path)
			program->path = host->program;
	}
	if (program->path && (with_code || !program->is_python))
		open_file(host, with_code, program);
}

void fw_program_release(struct fw_program *program)
{
	fw_binary_close(program->binary);
	fw_file_close(&program->file);
	*program = (struct fw_program){ 0 };
}
