#include "inject/writer.h"

#include "inject/facts.h"
#include "inject/pool.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)

#define LOOP_NS    (10 * MS) /* between two looks at the buffers */
#define CONTROL_NS (20 * MS) /* the contract of recording_control.h */
#define CLOCK_NS   (200 * MS)
#define SECOND_NS  (1000 * MS)

/* How long the records of running work are waited for before they are given up, at exit and when giving way. */
#define DRAIN_NS (300 * MS)

/* No buffer has moved for so long: see is_stalled(). */
#define STALLED_NS (2000 * MS)

bool fw_writer_open(struct fw_writer *writer, const char *dir, const char *options)
{
	struct fw_sink sink = writer->sink;
	struct fw_names names = writer->names;

	/* What a parent before fork has mapped serves again. */
	memset(writer, 0, sizeof(*writer));
	writer->sink.payload = sink.payload;
	writer->names = names;
	fw_inject_options_parse(&writer->options, dir, options);
	if (!writer->options.dir[0] || !fw_names_open(&writer->names) || !fw_rings_open() ||
	    !fw_pool_open(writer->options.buffers, writer->options.buffer_bytes))
		return false;
	if (!fw_sink_open(&writer->sink, writer->options.dir, (uint32_t)getpid(),
			  writer->options.max_bytes))
		return false;
	fw_pool_offer(writer->options.buffer_bytes_min);
	if (!fw_convert_open(&writer->convert, &writer->sink, &writer->names, 0,
			     writer->options.kernels)) {
		fw_facts_text(&writer->convert, FW_REC_INFO_CANNOT,
			      "a choice of kernels: not a regular expression");
		writer->options.kernels[0] = 0;
	}
	fw_facts_process(&writer->convert, &writer->options);
	fw_control_open(&writer->control, writer->options.dir, (uint32_t)getpid());
	fw_session_refuse(false);
	writer->is_blind = true;
	writer->blind_reason = FW_REC_LOSS_PAUSED;
	writer->blind_mono = fw_sink_now();
	writer->checked_mono = writer->blind_mono;
	atomic_store(&writer->wanted, fw_control_wanted(&writer->control, writer->blind_mono));
	fw_rings_enable(writer->wanted == FW_REC_WANT_RECORD);
	atomic_store(&writer->phase, FW_WRITER_RUNS);
	return true;
}

void fw_writer_close(struct fw_writer *writer)
{
	fw_rings_enable(false);
	fw_convert_close(&writer->convert);
	fw_sink_end(&writer->sink);
}

static bool is_wanted(const struct fw_writer *w, enum fw_rec_wanted wanted)
{
	return wanted == FW_REC_WANT_RECORD && (!w->options.is_ranged || fw_session_in_range());
}

void fw_writer_attach_cuda(struct fw_writer *writer)
{
	struct fw_error err = { .message = "" };

	if (atomic_load(&writer->has_cuda) || writer->session.is_open)
		return;
	if (fw_session_open(&writer->session, &writer->options, &err)) {
		struct fw_session *session = &writer->session;

		session->is_open = false;
		session->cannot_count = 1;
		snprintf(session->cannot[0], FW_SESSION_CANNOT_BYTES, "anything of the GPU: %.160s",
			 err.message);
	} else {
		if (!fw_session_read_clock(&writer->session, &writer->first_clock))
			writer->first_clock.after_mono = 0;
		fw_profiler_open(writer->session.before, &writer->is_stopping);
		/* At once: the first kernels follow. */
		if (is_wanted(writer, atomic_load(&writer->wanted)) &&
		    !writer->session.before.has_callbacks)
			fw_session_arm(&writer->session);
	}
	atomic_store_explicit(&writer->has_cuda, true, memory_order_release);
	/* From then on the writer thread may be asked to give way. */
	fw_session_watch(&writer->session);
}

static bool has_session(struct fw_writer *w)
{
	return atomic_load_explicit(&w->has_cuda, memory_order_acquire);
}

static void write_range(void *context, uint32_t tid, const struct fw_ring_range *range,
			const char *name)
{
	struct fw_writer *w = context;
	struct fw_rec_range *to;
	uint32_t id, domain;

	if (range->kind == FW_RING_THREAD_NAME) {
		fw_convert_named_thread(&w->convert, (uint32_t)range->start_mono, name);
		return;
	}
	id = fw_names_id(&w->names, &w->sink, name);
	domain = fw_names_id_at(&w->names, &w->sink, range->domain);
	fw_convert_thread(&w->convert, tid);
	to = fw_sink_add(&w->sink, FW_REC_RANGE, sizeof(*to), range->kind);
	if (!to)
		return;
	to->start_mono = range->start_mono;
	to->end_mono = range->end_mono;
	to->name = id;
	to->domain = domain;
	to->tid = tid;
}

static void convert_buffer(struct fw_writer *w, uint8_t *buffer, size_t valid)
{
	const uint8_t *end = buffer + valid, *record;
	void *at = NULL;

	while ((record = fw_session_next(&w->session, buffer, valid, &at))) {
		if (record < buffer || record >= end)
			break;
		fw_convert_record(&w->convert, record, (size_t)(end - record));
	}
}

static void drain(struct fw_writer *w)
{
	size_t valid;
	uint8_t *buffer;

	if (has_session(w)) {
		w->convert.version = w->session.version;
		while ((buffer = fw_pool_next(&valid))) {
			convert_buffer(w, buffer, valid);
			w->tick_bytes += valid;
			fw_pool_release(buffer);
		}
	}
	fw_rings_drain(write_range, w);
}

static void lose(struct fw_writer *w, enum fw_rec_loss_reason reason, int64_t from, uint64_t count)
{
	struct fw_rec_loss loss = {
		.head.extra = reason,
		.start_mono = from,
		.end_mono = fw_sink_now(),
		.count = count,
	};

	fw_sink_loss(&w->sink, &loss);
}

static void check_losses(struct fw_writer *w)
{
	uint64_t gpu = has_session(w) && !w->is_granted ? fw_session_dropped(&w->session) : 0;
	uint64_t host = fw_rings_take_dropped();
	uint64_t refused = fw_pool_take_refused();

	if (gpu)
		lose(w, FW_REC_LOSS_DROPPED_GPU, w->checked_mono, gpu);
	else if (refused)
		lose(w, FW_REC_LOSS_DROPPED_GPU, w->checked_mono, UINT64_MAX);
	if (host)
		lose(w, FW_REC_LOSS_DROPPED_HOST, w->checked_mono, host);
	w->checked_mono = fw_sink_now();
}

static void add_clock(struct fw_writer *w, const struct fw_rec_clock *clock)
{
	struct fw_rec_clock *to = fw_sink_add(&w->sink, FW_REC_CLOCK, sizeof(*to), 0);
	struct fw_rec head;

	if (!to)
		return;
	head = to->head;
	*to = *clock;
	to->head = head;
}

static void write_clock(struct fw_writer *w, int64_t now)
{
	struct fw_rec_clock clock;

	if (!has_session(w))
		return;
	if (fw_session_read_clock(&w->session, &clock))
		add_clock(w, &clock);
	w->next_clock_mono = now + CLOCK_NS;
}

/*
 * A buffer should be full after about one interval between two flushes: CUPTI gives back only buffers
 * whose work has all ended, and with one that fills slowly all of it would be late, and be lost if the
 * program is killed.
 */
static void choose_buffer_size(struct fw_writer *w)
{
	uint64_t bytes = w->tick_bytes;

	if (bytes < w->options.buffer_bytes_min)
		bytes = w->options.buffer_bytes_min;
	fw_pool_offer(bytes < w->options.buffer_bytes ? bytes : w->options.buffer_bytes);
	w->tick_bytes = 0;
}

/* What became known only after the start. */
static void write_facts(struct fw_writer *w)
{
	bool is_quiet = w->is_granted || fw_profiler_has_subscriber();
	int version;

	if (!has_session(w))
		return;
	if (!w->has_facts) {
		w->has_facts = true;
		if (w->first_clock.after_mono)
			add_clock(w, &w->first_clock);
		if (w->session.version)
			fw_facts_value(&w->convert, FW_REC_INFO_CUPTI_VERSION, w->session.version);
		for (unsigned i = 0; i < w->session.cannot_count; i++)
			fw_facts_text(&w->convert, FW_REC_INFO_CANNOT, w->session.cannot[i]);
	}
	if (fw_profiler_took_subscriber()) {
		w->options.is_ranged = false;
		fw_facts_text(&w->convert, FW_REC_INFO_CANNOT,
			      "only what is between cudaProfilerStart and Stop, since the program "
			      "subscribed to CUPTI's callbacks (all is recorded)");
	}
	/* The calls of the driver below would be in the program's own trace. */
	if (is_quiet)
		return;
	if (!w->has_driver_version) {
		version = fw_facts_driver_version();
		w->has_driver_version = version != 0;
		if (version)
			fw_facts_value(&w->convert, FW_REC_INFO_DRIVER_VERSION, version);
	}
	if (w->convert.devices_seen & ~w->convert.devices)
		fw_facts_devices(&w->convert);
}

/*
 * Buffers are out and none has moved for long: a kernel runs on and on, or another tool in the process has
 * registered its callbacks with CUPTI and gets our buffers. Its session is left in peace as far as that can be.
 */
static bool is_stalled(struct fw_writer *w, int64_t now)
{
	uint64_t moves = fw_pool_moves();

	if (moves != w->moves || !w->moved_mono)
		w->moved_mono = now;
	w->moves = moves;
	return fw_pool_out() && now - w->moved_mono > STALLED_NS;
}

static void flush(struct fw_writer *w, int64_t now)
{
	bool is_time = !is_stalled(w, now) || now >= w->next_second_mono;

	if (has_session(w) && fw_pool_out() && is_time && !w->is_granted && w->options.flush_ms)
		fw_session_flush(&w->session, w->options.flush_forced ? FW_CUPTI_FLUSH_FORCED
								      : FW_CUPTI_FLUSH_COMPLETE);
	drain(w);
	if (!w->has_facts)
		write_facts(w);
	choose_buffer_size(w);
	check_losses(w);
	if (!w->is_granted && (w->sink.used || now >= w->next_second_mono) &&
	    now >= w->next_clock_mono)
		write_clock(w, now);
	fw_sink_flush(&w->sink);
	w->next_flush_mono = now + (w->options.flush_ms ? w->options.flush_ms : 50) * MS;
}

/* All that CUPTI still has; what has not ended by then comes without its times. */
static void drain_all(struct fw_writer *w)
{
	int64_t deadline = fw_sink_now() + DRAIN_NS;
	const struct timespec moment = { .tv_nsec = 2 * MS };

	if (has_session(w)) {
		do {
			fw_session_flush(&w->session, FW_CUPTI_FLUSH_COMPLETE);
			drain(w);
		} while (fw_pool_out() && fw_sink_now() < deadline && !nanosleep(&moment, NULL));
		if (fw_pool_out())
			fw_session_flush(&w->session, FW_CUPTI_FLUSH_FORCED);
	}
	drain(w);
	check_losses(w);
}

static void go_blind(struct fw_writer *w, enum fw_rec_loss_reason reason)
{
	w->is_blind = true;
	w->blind_reason = reason;
	w->blind_mono = fw_sink_now();
	if (reason == FW_REC_LOSS_PAUSED)
		fw_rings_enable(false);
	/* What is said at the end would be missing if the program is killed. */
	if (w->sink.state == FW_SINK_FULL)
		lose(w, FW_REC_LOSS_SIZE, w->sink.stopped_mono, UINT64_MAX);
	if (w->sink.state == FW_SINK_FAILED)
		lose(w, FW_REC_LOSS_DISK, w->sink.stopped_mono, UINT64_MAX);
}

/* CUPTI is armed whenever something is to be recorded, also when it was opened in between. */
static void follow(struct fw_writer *w)
{
	if (!has_session(w))
		return;
	if (w->is_blind)
		fw_session_disarm(&w->session);
	else
		fw_session_arm(&w->session);
	fw_session_follow_range(!w->is_blind);
}

/* Between the start and the first look at the control file is no pause. */
static bool was_blind(const struct fw_writer *w)
{
	return w->is_blind && w->next_second_mono;
}

static void see_again(struct fw_writer *w)
{
	bool is_loss = was_blind(w);

	fw_rings_enable(true);
	w->is_blind = false;
	/* Before the clock is read: another tool may have set it. */
	follow(w);
	if (is_loss)
		lose(w, w->blind_reason, w->blind_mono, UINT64_MAX);
	write_clock(w, fw_sink_now());
}

/* One that had begun when CUDA was started has had CUPTI since then. */
static bool was_never_armed(struct fw_writer *w)
{
	return has_session(w) && w->session.before.has_callbacks && !w->session.was_armed;
}

static void give_way(struct fw_writer *w)
{
	int64_t began = w->blind_mono;

	write_clock(w, fw_sink_now());
	if (!w->is_blind || w->blind_reason != FW_REC_LOSS_OTHER_PROFILER) {
		if (was_blind(w) && !was_never_armed(w))
			lose(w, w->blind_reason, w->blind_mono, UINT64_MAX);
		go_blind(w, FW_REC_LOSS_OTHER_PROFILER);
		if (was_never_armed(w))
			w->blind_mono = began;
	}
	follow(w);
	drain_all(w);
	if (has_session(w))
		fw_session_yield(&w->session);
	fw_sink_flush(&w->sink);
	w->is_granted = true;
	fw_profiler_grant();
}

/*
 * Another tool in the process may have registered its callbacks with CUPTI. Nobody says so; but then the record
 * of a call that is made now does not come to us, as that of the same call has come before.
 */
static void check_takeover(struct fw_writer *w)
{
	uint64_t probes = w->convert.probes;

	if (!has_session(w) || !w->session.is_armed || w->is_granted || !probes || !w->moved_mono ||
	    fw_profiler_has_subscriber())
		return;
	fw_facts_driver_version();
	fw_session_flush(&w->session, FW_CUPTI_FLUSH_FORCED);
	drain(w);
	if (w->convert.probes == probes)
		lose(w, FW_REC_LOSS_OTHER_PROFILER, w->moved_mono, UINT64_MAX);
}

static void write_shortfalls(struct fw_writer *w)
{
	char text[128];

	if (w->names.left_out) {
		snprintf(text, sizeof(text), "%llu names: the table of %u is full",
			 (unsigned long long)w->names.left_out, FW_NAMES_MOST);
		fw_facts_text(&w->convert, FW_REC_INFO_CANNOT, text);
	}
	if (w->convert.without_times) {
		snprintf(text, sizeof(text),
			 "the times of %llu operations, which CUPTI gave without",
			 (unsigned long long)w->convert.without_times);
		fw_facts_text(&w->convert, FW_REC_INFO_CANNOT, text);
	}
}

static void end_file(struct fw_writer *w)
{
	if (w->is_ended)
		return;
	w->is_ended = true;
	check_takeover(w);
	write_shortfalls(w);
	if (was_blind(w) && w->sink.state == FW_SINK_OPEN)
		lose(w, w->blind_reason, w->blind_mono, UINT64_MAX);
	if (!w->is_granted)
		write_clock(w, fw_sink_now());
	fw_rings_enable(false);
	fw_sink_end(&w->sink);
}

/* A profiler that the program begins with later finds CUPTI as it left it. */
static void leave_cupti(struct fw_writer *w)
{
	fw_session_refuse(true);
	if (has_session(w) && !w->is_granted && fw_profiler_own().request) {
		fw_session_disarm(&w->session);
		fw_session_yield(&w->session);
	}
	fw_profiler_close();
}

static void stop_for_good(struct fw_writer *w)
{
	if (!w->is_blind)
		go_blind(w, FW_REC_LOSS_PAUSED);
	follow(w);
	if (!w->is_granted)
		drain_all(w);
	end_file(w);
	leave_cupti(w);
}

/* The shim or the program itself wants CUPTI, or has done with it. */
static void take_turns(struct fw_writer *w, bool shim_asks, bool should)
{
	/* What the shim says is its last word: no call follows that would be worth a rest. */
	bool has_ended = w->is_shim_granted && !shim_asks;
	bool asked;

	if (has_ended)
		fw_profiler_end_early();
	asked = shim_asks || fw_profiler_is_at_work(has_ended ? INT64_MAX : fw_sink_now());

	/* It may have been armed since the shim asked, when CUDA was started. */
	if (asked && (!w->is_granted || (has_session(w) && w->session.is_armed)))
		give_way(w);
	else if (asked && fw_profiler_is_waiting())
		fw_profiler_grant();
	if (!asked && w->is_granted && fw_profiler_take_back())
		w->is_granted = false;
	if (should && w->is_blind && !w->is_granted)
		see_again(w);
	/* Last: the shim goes on when it reads this. */
	if (w->is_shim_granted != shim_asks) {
		fw_control_grant(&w->control, shim_asks);
		w->is_shim_granted = shim_asks;
	}
}

static void look_at_control(struct fw_writer *w, int64_t now)
{
	enum fw_rec_wanted wanted = fw_control_wanted(&w->control, now);
	bool should = !w->is_ended && w->sink.state == FW_SINK_OPEN && is_wanted(w, wanted);

	atomic_store(&w->wanted, wanted);
	w->next_control_mono = now + CONTROL_NS;
	take_turns(w, fw_control_is_asked(&w->control, now), should);
	if (wanted == FW_REC_WANT_STOP && !w->is_ended)
		stop_for_good(w);
	else if (!should && !w->is_blind)
		go_blind(w, FW_REC_LOSS_PAUSED);
	follow(w);
}

static bool must_look(const struct fw_writer *w, int64_t now)
{
	return now >= w->next_control_mono || fw_profiler_is_waiting() ||
	       (w->options.is_ranged && fw_session_in_range() == w->is_blind);
}

static void wait(struct fw_writer *w)
{
	const struct timespec interval = { .tv_nsec = LOOP_NS };

	syscall(SYS_futex, &w->is_stopping, FUTEX_WAIT_PRIVATE, 0, &interval, NULL, 0);
}

void *fw_writer_run(void *writer)
{
	struct fw_writer *w = writer;

	prctl(PR_SET_NAME, "fullwarp");
	while (!atomic_load(&w->is_stopping)) {
		int64_t now = fw_sink_now();

		if (must_look(w, now))
			look_at_control(w, now);
		drain(w);
		if (now >= w->next_flush_mono)
			flush(w, now);
		if (now >= w->next_second_mono) {
			write_facts(w);
			fw_rings_reap();
			w->next_second_mono = now + SECOND_NS;
		}
		wait(w);
	}
	if (!w->is_granted && !w->is_ended)
		drain_all(w);
	write_facts(w);
	end_file(w);
	leave_cupti(w);
	fw_convert_close(&w->convert);
	atomic_store(&w->phase, FW_WRITER_DONE);
	return NULL;
}

void fw_writer_finish(struct fw_writer *writer, unsigned most_ms)
{
	const struct timespec moment = { .tv_nsec = MS };
	int64_t deadline = fw_sink_now() + most_ms * MS;

	atomic_store(&writer->is_stopping, 1);
	syscall(SYS_futex, &writer->is_stopping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	while (atomic_load(&writer->phase) != FW_WRITER_DONE && fw_sink_now() < deadline)
		nanosleep(&moment, NULL);
}
