/* NVRTC: its table of symbols, and one compile with all its answers checked. */
#include "gpu/nvrtc.h"

#include "gpu/loader.h"
#include "gpu/places.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPILATION_ERROR 6 /* NVRTC_ERROR_COMPILATION */

static const struct fw_symbol symbols[] = {
#define FW_SYM(required, symbol, result, field, args)                                              \
	{ symbol, offsetof(struct fw_nvrtc, field), required },
#include "gpu/nvrtc.def"
#undef FW_SYM
};

static fw_status load(const char *path, void *user, struct fw_error *err)
{
	struct fw_nvrtc *nvrtc = user;

	return fw_symbols_load(path, symbols, sizeof(symbols) / sizeof(symbols[0]), nvrtc,
			       &nvrtc->handle, err);
}

static fw_status load_any(struct fw_nvrtc *nvrtc, struct fw_error *err)
{
	/* Wheels of CUDA 13 lie in nvidia/cu13, those of 12 in nvidia/cuda_nvrtc. */
	static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", NULL };
	static const char *const wheels[] = { "nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", NULL };
	struct fw_error first = { 0 };

	if (!fw_library_open(&(struct fw_library){ names, wheels }, load, nvrtc, &first))
		return FW_OK;
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       "no NVRTC (libnvrtc.so.13 or .12) found by the loader, in CUDA_HOME, "
		       "CUDA_PATH, /usr/local/cuda or the wheels of python3: %.150s",
		       first.message);
}

fw_status fw_nvrtc_open(struct fw_nvrtc *nvrtc, const char *library, struct fw_error *err)
{
	fw_status status;
	Dl_info info;
	int result;

	*nvrtc = (struct fw_nvrtc){ 0 };
	status = library ? load(library, nvrtc, err) : load_any(nvrtc, err);
	if (status)
		return status;
	if (dladdr((void *)(uintptr_t)nvrtc->version, &info) && info.dli_fname &&
	    strlen(info.dli_fname) < sizeof(nvrtc->path))
		snprintf(nvrtc->path, sizeof(nvrtc->path), "%s", info.dli_fname);
	result = nvrtc->version(&nvrtc->major, &nvrtc->minor);
	if (!result)
		return FW_OK;
	status = fw_fail(err, FW_ERR_UNSUPPORTED, "nvrtcVersion: %s (%d)",
			 nvrtc->get_error_string(result), result);
	fw_nvrtc_close(nvrtc);
	return status;
}

void fw_nvrtc_close(struct fw_nvrtc *nvrtc)
{
	fw_symbols_unload(nvrtc->handle);
	*nvrtc = (struct fw_nvrtc){ 0 };
}

bool fw_nvrtc_include_folder(const struct fw_nvrtc *nvrtc, char folder[FW_NVRTC_PATH_BYTES])
{
	/* The second is that of the wheels of CUDA 12: nvidia/cuda_nvrtc/lib beside nvidia/cuda_runtime. */
	static const char *const beside[] = { "../include", "../../cuda_runtime/include" };
	const char *slash = strrchr(nvrtc->path, '/');
	const char *homes[] = { getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda" };
	char header[FW_NVRTC_PATH_BYTES + 16];

	for (unsigned i = 0; i < 5; i++) {
		int n = -1;

		if (i < 2 && slash)
			n = snprintf(folder, FW_NVRTC_PATH_BYTES, "%.*s/%s",
				     (int)(slash - nvrtc->path), nvrtc->path, beside[i]);
		else if (i >= 2 && homes[i - 2] && homes[i - 2][0] == '/')
			n = snprintf(folder, FW_NVRTC_PATH_BYTES, "%s/include", homes[i - 2]);
		if (n < 0 || n >= FW_NVRTC_PATH_BYTES)
			continue;
		snprintf(header, sizeof(header), "%s/cuda_fp16.h", folder);
		if (!access(header, R_OK))
			return true;
	}
	folder[0] = 0;
	return false;
}

static fw_status fail(const struct fw_nvrtc *nvrtc, int result, const char *call,
		      struct fw_error *err)
{
	const char *text = nvrtc->get_error_string(result);

	return fw_fail(err, FW_ERR_IO, "%s: %s (%d)", call, text ? text : "an unknown error",
		       result);
}

static char *get_log(const struct fw_nvrtc *nvrtc, void *program)
{
	size_t bytes = 0;
	char *log;

	if (nvrtc->get_program_log_size(program, &bytes) || bytes > SIZE_MAX / 2)
		bytes = 0;
	log = calloc(1, bytes + 1);
	if (!log)
		return NULL;
	if (bytes && nvrtc->get_program_log(program, log))
		log[0] = 0;
	if (bytes > FW_NVRTC_MAX_LOG) {
		char *shorter = realloc(log, FW_NVRTC_MAX_LOG + 1);

		log = shorter ? shorter : log;
		log[FW_NVRTC_MAX_LOG] = 0;
	}
	return log;
}

/* "k.cu(3): error: ..." of the log, else its first line. */
static fw_status source_error(const char *log, struct fw_error *err)
{
	const char *at = strstr(log, "error"), *line = at ? at : log;

	while (line > log && line[-1] != '\n')
		line--;
	line += strspn(line, " \t\r\n");
	return fw_fail(err, FW_ERR_FORMAT, "%.*s", (int)strcspn(line, "\r\n"),
		       *line ? line : "the compiler refused the source and said nothing");
}

static fw_status get_names(const struct fw_nvrtc *nvrtc, void *program,
			   const struct fw_nvrtc_job *job, struct fw_nvrtc_output *output,
			   struct fw_error *err)
{
	for (unsigned i = 0; i < job->n_names; i++) {
		const char *lowered = NULL;
		int result = nvrtc->get_lowered_name(program, job->names[i], &lowered);

		if (result || !lowered)
			return fail(nvrtc, result, "nvrtcGetLoweredName", err);
		output->lowered[i] = strdup(lowered);
		if (!output->lowered[i])
			return fw_fail_nomem(err, strlen(lowered) + 1);
	}
	return FW_OK;
}

static fw_status get_cubin(const struct fw_nvrtc *nvrtc, void *program,
			   struct fw_nvrtc_output *output, struct fw_error *err)
{
	size_t bytes = 0;
	int result = nvrtc->get_cubin_size(program, &bytes);

	if (result || !bytes)
		return fail(nvrtc, result, "nvrtcGetCUBINSize", err);
	if (bytes > FW_NVRTC_MAX_CUBIN)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "a cubin of %zu bytes; %zu are allowed",
			       bytes, FW_NVRTC_MAX_CUBIN);
	output->cubin = malloc(bytes);
	if (!output->cubin)
		return fw_fail_nomem(err, bytes);
	output->cubin_bytes = bytes;
	result = nvrtc->get_cubin(program, output->cubin);
	return result ? fail(nvrtc, result, "nvrtcGetCUBIN", err) : FW_OK;
}

static fw_status compile(const struct fw_nvrtc *nvrtc, void *program,
			 const struct fw_nvrtc_job *job, struct fw_nvrtc_output *output,
			 struct fw_error *err)
{
	fw_status status;
	int result;

	for (unsigned i = 0; i < job->n_names; i++) {
		result = nvrtc->add_name_expression(program, job->names[i]);
		if (result)
			return fail(nvrtc, result, "nvrtcAddNameExpression", err);
	}
	result = nvrtc->compile_program(program, (int)job->n_options, job->options);
	output->log = get_log(nvrtc, program);
	if (!output->log)
		return fw_fail_nomem(err, FW_NVRTC_MAX_LOG);
	if (result == COMPILATION_ERROR || (result && strstr(output->log, "error")))
		return source_error(output->log, err);
	if (result)
		return fail(nvrtc, result, "nvrtcCompileProgram", err);
	status = get_names(nvrtc, program, job, output, err);
	return status ? status : get_cubin(nvrtc, program, output, err);
}

fw_status fw_nvrtc_compile(const struct fw_nvrtc *nvrtc, const struct fw_nvrtc_job *job,
			   struct fw_nvrtc_output *output, struct fw_error *err)
{
	fw_status status;
	void *program = NULL;
	int result;

	*output = (struct fw_nvrtc_output){ 0 };
	if (job->n_names > FW_NVRTC_MAX_NAMES)
		return fw_fail(err, FW_ERR_ARGUMENT, "%u kernels are asked for; %d are allowed",
			       job->n_names, FW_NVRTC_MAX_NAMES);
	result = nvrtc->create_program(&program, job->source, job->name, 0, NULL, NULL);
	if (result)
		return fail(nvrtc, result, "nvrtcCreateProgram", err);
	status = compile(nvrtc, program, job, output, err);
	nvrtc->destroy_program(&program);
	if (status)
		fw_nvrtc_output_release(output);
	return status;
}

void fw_nvrtc_output_release(struct fw_nvrtc_output *output)
{
	free(output->cubin);
	free(output->log);
	for (unsigned i = 0; i < FW_NVRTC_MAX_NAMES; i++)
		free(output->lowered[i]);
	*output = (struct fw_nvrtc_output){ 0 };
}
