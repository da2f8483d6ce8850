/* A process of the compile pool: takes configurations, answers with objects. */
#include "tune/compile_worker.h"

#include "tune/object_cache.h"
#include "tune/options.h"
#include "tune/resources.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_MEMORY (UINT64_C(16) << 30) /* of address space: a template without end */
#define MAX_FILE   (UINT64_C(1) << 30)

#define MAX_COMMON 5

struct worker {
	const struct fw_tune_compile_work *work;
	struct fw_nvrtc nvrtc;
	char include[FW_NVRTC_PATH_BYTES];
	/* What every compile has: the architecture, the log's figures, folders of headers. */
	char architecture[32], include_options[3][FW_NVRTC_PATH_BYTES + 8];
	const char *common[MAX_COMMON];
	unsigned n_common;
	struct fw_tune_work_done done;
};

struct job {
	struct fw_tune_config config;
	const int64_t *sizes; /* NULL: the spec's own */
	struct fw_tune_launch launch;
	struct fw_nvrtc_job nvrtc;
	struct fw_tune_options options;
	const char *items[MAX_COMMON + FW_TUNE_MAX_OPTIONS];
	struct fw_tune_object_key key;
};

static void say(struct fw_tune_result *result, enum fw_tune_status status,
		const struct fw_error *err)
{
	result->status = status;
	snprintf(result->reason, sizeof(result->reason), "%.*s", FW_TUNE_REASON_BYTES - 1,
		 err->message);
}

/* All that decides what the compiler makes of a configuration, as one text. */
static fw_status make_key(const struct worker *worker, struct job *job, struct fw_error *err)
{
	const struct fw_tune_spec *spec = worker->work->spec;
	struct fw_str text = { 0 };

	fw_str_printf(&text, "object 1, NVRTC %d.%d, includes %llx\n", worker->nvrtc.major,
		      worker->nvrtc.minor, (unsigned long long)worker->work->include_hash);
	for (unsigned i = 0; i < job->nvrtc.n_options; i++)
		fw_str_append(&text, job->items[i], strlen(job->items[i]) + 1);
	for (unsigned i = 0; i < job->nvrtc.n_names; i++)
		fw_str_append(&text, job->nvrtc.names[i], strlen(job->nvrtc.names[i]) + 1);
	fw_str_append(&text, spec->source, spec->source_bytes);
	if (!text.failed)
		job->key = fw_tune_object_key(text.data, text.len);
	fw_str_release(&text);
	return text.failed ? fw_fail_nomem(err, spec->source_bytes) : FW_OK;
}

static fw_status prepare(struct worker *worker, struct job *job, struct fw_error *err)
{
	const struct fw_tune_spec *spec = worker->work->spec;
	const struct fw_tune_options *options = &job->options;
	fw_status status;

	status = fw_tune_options_make(spec, &job->config, job->sizes, &job->options, err);
	if (status)
		return status;
	memcpy(job->items, worker->common, worker->n_common * sizeof(*job->items));
	memcpy(job->items + worker->n_common, options->items, options->n * sizeof(*job->items));
	job->nvrtc = (struct fw_nvrtc_job){ .source = spec->source,
					    .name = spec->source_path,
					    .options = job->items,
					    .n_options = worker->n_common + options->n,
					    .names = { options->kernel, options->reference },
					    .n_names = options->reference ? 2 : 1 };
	return make_key(worker, job, err);
}

static void keep_trouble(struct worker *worker, bool *kind, const struct fw_error *err)
{
	*kind = true;
	snprintf(worker->done.trouble, sizeof(worker->done.trouble), "%.255s", err->message);
}

/* From the cache, else from the compiler. */
static fw_status get_object(struct worker *worker, struct job *job, struct fw_nvrtc_output *output,
			    struct fw_error *err)
{
	const char *folder = worker->work->options.cache_dir;
	struct fw_error trouble = { 0 };
	enum fw_tune_cached cached = FW_TUNE_NOT_CACHED;
	fw_status status;

	if (folder)
		cached = fw_tune_object_load(folder, job->key, output, &trouble);
	if (cached == FW_TUNE_CACHE_DAMAGED)
		keep_trouble(worker, &worker->done.was_damaged, &trouble);
	worker->done.was_cached = cached == FW_TUNE_CACHED;
	if (worker->done.was_cached)
		return FW_OK;
	worker->done.was_compiled = true;
	status = fw_nvrtc_compile(&worker->nvrtc, &job->nvrtc, output, err);
	if (!status && folder && fw_tune_object_store(folder, job->key, output, &trouble))
		keep_trouble(worker, &worker->done.was_not_kept, &trouble);
	return status;
}

static void build(struct worker *worker, struct job *job, struct fw_nvrtc_output *output,
		  struct fw_tune_result *result)
{
	struct fw_error err = { 0 };
	struct fw_tune_cubin code;
	int64_t start;

	if (fw_tune_spec_launch(worker->work->spec, &job->config, job->sizes, &job->launch, &err)) {
		say(result, FW_TUNE_NOT_LAUNCHABLE, &err);
		return;
	}
	result->dynamic_smem = job->launch.dynamic_smem;
	if (!fw_tune_launch_fits(worker->work->hw, &job->launch, result->reason)) {
		result->status = FW_TUNE_NOT_LAUNCHABLE;
		return;
	}
	start = fw_tune_now();
	if (prepare(worker, job, &err) || get_object(worker, job, output, &err)) {
		say(result, FW_TUNE_COMPILE_FAILED, &err);
		return;
	}
	result->compile_s = (double)(fw_tune_now() - start) * 1e-9;
	code = (struct fw_tune_cubin){ output->cubin, output->cubin_bytes, output->lowered[0],
				       output->log };
	if (fw_tune_read_resources(worker->work->hw, &job->launch, &code, result, &err))
		say(result, FW_TUNE_COMPILE_FAILED, &err);
}

static bool answer(struct worker *worker, struct job *job, int fd)
{
	struct fw_tune_result result = {
		.config = job->config, .occupancy = -1, .median_s = -1, .low_s = -1, .high_s = -1
	};
	struct fw_nvrtc_output output = { 0 };
	struct fw_str reply = { 0 };
	bool is_sent, is_ok;

	worker->done = (struct fw_tune_work_done){ 0 };
	build(worker, job, &output, &result);
	is_ok = result.status == FW_TUNE_OK;
	fw_str_append(&reply, (const char *)&result, sizeof(result));
	fw_str_append(&reply, (const char *)&worker->done, sizeof(worker->done));
	fw_tune_put_block(&reply, output.cubin, is_ok ? output.cubin_bytes : 0);
	fw_tune_put_text(&reply, is_ok ? output.lowered[0] : NULL);
	fw_tune_put_text(&reply, is_ok ? output.lowered[1] : NULL);
	is_sent = fw_tune_send(fd, FW_TUNE_MSG_DONE, &reply);
	fw_str_release(&reply);
	fw_nvrtc_output_release(&output);
	fw_tune_options_release(&job->options);
	return is_sent;
}

static void add_folder(struct worker *worker, unsigned i, const char *folder, const char *below)
{
	char *option = worker->include_options[i];

	if (!folder[0] || snprintf(option, sizeof(worker->include_options[i]), "-I%s%s", folder,
				   below) >= (int)sizeof(worker->include_options[i]))
		return;
	if (!access(option + 2, R_OK | X_OK))
		worker->common[worker->n_common++] = option;
}

static void set_common(struct worker *worker)
{
	snprintf(worker->architecture, sizeof(worker->architecture), "--gpu-architecture=sm_%u",
		 worker->work->options.cc);
	worker->common[worker->n_common++] = worker->architecture;
	worker->common[worker->n_common++] = "--ptxas-options=-v";
	add_folder(worker, 0, worker->work->source_folder, "");
	add_folder(worker, 1, worker->include, "");
	add_folder(worker, 2, worker->include, "/cccl");
}

static bool hello(struct worker *worker, int fd)
{
	const struct fw_tune_compile_work *work = worker->work;
	struct fw_error err = { 0 };
	struct fw_str text = { 0 };
	uint32_t status = fw_nvrtc_open(&worker->nvrtc, work->options.nvrtc_path, &err);
	bool is_sent;

	if (!status)
		fw_nvrtc_include_folder(&worker->nvrtc, worker->include);
	set_common(worker);
	fw_str_append(&text, (const char *)&status, sizeof(status));
	fw_str_append(&text, (const char *)&worker->nvrtc.major, sizeof(int));
	fw_str_append(&text, (const char *)&worker->nvrtc.minor, sizeof(int));
	fw_tune_put_text(&text, err.message);
	fw_tune_put_text(&text, worker->nvrtc.path);
	fw_tune_put_text(&text, worker->include);
	is_sent = fw_tune_send(fd, FW_TUNE_MSG_HELLO, &text);
	fw_str_release(&text);
	return is_sent && !status;
}

/* The sanitizers reserve terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

static void set_limits(void)
{
	struct rlimit file;

	/* A compiler that prints without end; a signal would end it without a word. */
	signal(SIGXFSZ, SIG_IGN);
	if (!getrlimit(RLIMIT_FSIZE, &file) && file.rlim_cur > MAX_FILE) {
		file.rlim_cur = MAX_FILE;
		setrlimit(RLIMIT_FSIZE, &file);
	}
#ifndef IS_SANITIZED
	setrlimit(RLIMIT_AS, &(struct rlimit){ MAX_MEMORY, MAX_MEMORY });
#endif
}

void fw_tune_compile_worker(int fd, void *user)
{
	struct worker worker = { .work = user };
	struct fw_tune_message message;
	int64_t sizes[FW_TUNE_MAX_SETS];

	set_limits();
	if (!hello(&worker, fd))
		return;
	while (fw_tune_receive(fd, 0, &message) == FW_TUNE_RECEIVED) {
		struct job job = { .sizes = NULL };
		uint32_t n_sizes;
		bool is_good;

		fw_tune_process_clear_log();
		fw_tune_message_take(&message, &job.config, sizeof(job.config));
		is_good = fw_tune_message_take(&message, &n_sizes, sizeof(n_sizes)) &&
			  n_sizes <= FW_TUNE_MAX_SETS &&
			  fw_tune_message_take(&message, sizes, n_sizes * sizeof(*sizes));
		job.sizes = n_sizes ? sizes : NULL;
		fw_tune_message_release(&message);
		if (!is_good || !answer(&worker, &job, fd))
			return;
	}
}
