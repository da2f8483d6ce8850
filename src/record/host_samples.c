#include "record/host_samples.h"

#include "sample/host_sampler.h"

#include <stdlib.h>

struct fw_record_host {
	struct fw_record_stream *stream;
	struct fw_record_host_options options;
	struct fw_host_sampler *sampler;
	int64_t due_mono;
};

static void write_value(void *context, const struct fw_host_reading *reading)
{
	struct fw_record_host *host = context;
	const struct fw_rec_host record = {
		.head = { FW_REC_HOST, sizeof(record), reading->tid },
		.time_mono = reading->time_ns,
		.value = reading->value,
		.pid = reading->pid,
		.name = fw_record_stream_string(host->stream, fw_host_values[reading->which].name),
	};

	fw_record_stream_append(host->stream, &record);
}

static void write_thread(void *context, unsigned pid, unsigned tid, const char *name)
{
	struct fw_record_host *host = context;
	const struct fw_rec_thread record = {
		.head = { FW_REC_THREAD, sizeof(record), tid },
		.name = fw_record_stream_string(host->stream, name),
		.pid = pid,
	};

	fw_record_stream_append(host->stream, &record);
}

static void write_off_cpu(void *context, const struct fw_off_cpu *off)
{
	struct fw_record_host *host = context;
	const struct fw_rec_switch record = {
		.head = { FW_REC_SWITCH, sizeof(record), off->tid },
		.start_mono = off->start_ns,
		.end_mono = off->end_ns,
		.pid = off->pid,
		.why = off->is_runnable ? FW_REC_OFF_RUNNABLE : FW_REC_OFF_BLOCKED,
	};

	fw_record_stream_append(host->stream, &record);
}

static void write_lost(void *context, int64_t start_ns, int64_t end_ns, uint64_t count)
{
	struct fw_record_host *host = context;
	const struct fw_rec_loss record = {
		.head = { FW_REC_LOSS, sizeof(record), FW_REC_LOSS_DROPPED_HOST },
		.start_mono = start_ns,
		.end_mono = end_ns,
		.count = count,
	};

	fw_record_stream_append(host->stream, &record);
}

static void write_cannot(void *context, const char *what)
{
	struct fw_record_host *host = context;

	fw_record_stream_info(host->stream, FW_REC_INFO_CANNOT, what, 0);
}

fw_status fw_record_host_open(struct fw_record_host **host,
			      const struct fw_record_host_options *options, struct fw_error *err)
{
	struct fw_record_host *h = calloc(1, sizeof(*h));
	fw_status status;

	*host = NULL;
	if (!h)
		return fw_fail_nomem(err, sizeof(*h));
	h->options = *options;
	status = fw_record_stream_open(&h->stream, options->path, FW_REC_FILE_HOST,
				       options->max_bytes, err);
	h->options.path = NULL;
	if (status) {
		free(h);
		return status;
	}
	*host = h;
	return FW_OK;
}

bool fw_record_host_begin(void *host)
{
	struct fw_record_host *h = host;
	const struct fw_host_sink sink = { h,          write_value, write_thread, write_off_cpu,
					   write_lost, write_cannot };
	const struct fw_host_options options = {
		.root = "/",
		.pid = h->options.pid,
		.adopter = h->options.adopter,
		.period_ns = FW_RECORD_HOST_TICK_NS,
		.switch_threads_most = h->options.has_no_switches ? 0 : FW_RECORD_SWITCH_THREADS,
	};
	struct fw_error err = { 0 };

	if (!fw_host_sampler_open(&h->sampler, &options, &sink, &err))
		return true;
	fw_record_stream_info(h->stream, FW_REC_INFO_CANNOT, err.message, 0);
	return false;
}

void fw_record_host_tick(void *host, int64_t now_mono)
{
	struct fw_record_host *h = host;

	if (now_mono >= h->due_mono)
		h->due_mono = fw_host_sampler_read(h->sampler, now_mono);
}

void fw_record_host_paused(void *host, int64_t start_mono, int64_t end_mono)
{
	struct fw_record_host *h = host;

	fw_host_sampler_skip(h->sampler, end_mono);
	fw_record_stream_pause(h->stream, start_mono, end_mono);
}

void fw_record_host_end(void *host)
{
	struct fw_record_host *h = host;

	fw_host_sampler_close(h->sampler);
	h->sampler = NULL;
	fw_record_stream_flush(h->stream);
}

void fw_record_host_close(struct fw_record_host *host, struct fw_record_stream_state *state)
{
	if (!host)
		return;
	fw_record_stream_close(host->stream, state);
	free(host);
}
