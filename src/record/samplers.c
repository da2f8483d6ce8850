/* What samples beside the program, and what the user is told of it. */
#include "record/session.h"

#include <string.h>
#include <unistd.h>

static void start_counters(struct fw_record_session *session)
{
	const struct fw_record_counters_options options = {
		.path = fw_record_path(session, "counters.fwr"),
		.max_bytes = session->options->max_bytes,
		.interval_ns = session->options->counter_interval_ns,
		.best = session->options->counter_source,
	};
	struct fw_record_sampler sampler = { .interval_ns = FW_RECORD_COUNTERS_TICK_NS,
					     .begin = fw_record_counters_begin,
					     .tick = fw_record_counters_tick,
					     .paused = fw_record_counters_paused,
					     .end = fw_record_counters_end };
	struct fw_error err = { 0 };

	if (!options.path || fw_record_counters_open(&session->counters, &options, &err)) {
		fw_record_note(session, "no counters of the GPU: %s", err.message);
		return;
	}
	sampler.user = session->counters;
	if (!fw_record_ticker_start(&session->counters_ticker, &sampler, session->folder.control,
				    &err))
		return;
	fw_record_note(session, "no counters of the GPU: %s", err.message);
	fw_record_counters_close(session->counters, NULL);
	session->counters = NULL;
}

static void start_host(struct fw_record_session *session)
{
	struct fw_record_host_options options = { .max_bytes = session->options->max_bytes,
						  .pid = (unsigned)session->child.pid,
						  .adopter = (unsigned)getpid() };
	struct fw_record_sampler sampler = { .interval_ns = FW_RECORD_HOST_TICK_NS,
					     .begin = fw_record_host_begin,
					     .tick = fw_record_host_tick,
					     .paused = fw_record_host_paused,
					     .end = fw_record_host_end };
	struct fw_error err = { 0 };
	char name[32] = "host.fwr";

	if (!session->folder.is_leader)
		snprintf(name, sizeof(name), "host-%ld.fwr", (long)getpid());
	options.path = fw_record_path(session, name);
	if (!options.path || fw_record_host_open(&session->host, &options, &err)) {
		fw_record_note(session, "no samples of the host: %s", err.message);
		return;
	}
	sampler.user = session->host;
	if (!fw_record_ticker_start(&session->host_ticker, &sampler, session->folder.control, &err))
		return;
	fw_record_note(session, "no samples of the host: %s", err.message);
	fw_record_host_close(session->host, NULL);
	session->host = NULL;
}

void fw_record_start_samplers(struct fw_record_session *session)
{
	/* A GPU has one client for its counters: the recorder that leads takes them for all. */
	if (!session->options->no_counters && session->folder.is_leader)
		start_counters(session);
	if (!session->options->no_host)
		start_host(session);
}

static void tell_of_writing(struct fw_record_session *session, const char *what,
			    const struct fw_record_stream_state *state)
{
	session->result->samples_lost += state->lost;
	if (state->write_error)
		fw_record_note(session, "%s: %s: %llu samples lost", what,
			       strerror(state->write_error), (unsigned long long)state->lost);
}

static void stop_counters(struct fw_record_session *session)
{
	struct fw_record_stream_state state = { 0 };
	const char *why;

	if (!session->counters)
		return;
	if (!fw_record_ticker_stop(session->counters_ticker)) {
		session->counters_hang = true;
		fw_record_note(session, "the driver does not answer: counters.fwr lacks its end");
		return;
	}
	why = fw_record_counters_why(session->counters);
	if (why)
		session->counters_why = fw_arena_strndup(&session->arena, why, strlen(why));
	fw_record_counters_close(session->counters, &state);
	tell_of_writing(session, "counters.fwr", &state);
}

static void stop_host(struct fw_record_session *session)
{
	struct fw_record_stream_state state = { 0 };

	if (!session->host)
		return;
	if (!fw_record_ticker_stop(session->host_ticker)) {
		session->host_hangs = true;
		fw_record_note(session, "host.fwr lacks its end: reading /proc takes too long");
		return;
	}
	fw_record_host_close(session->host, &state);
	tell_of_writing(session, "host.fwr", &state);
}

void fw_record_stop_samplers(struct fw_record_session *session)
{
	stop_counters(session);
	stop_host(session);
	session->counters = NULL;
	session->host = NULL;
}
