/* Keeps a pipeline busy. */
#include "serve/bench_load.h"
#include "serve/bench_arrivals.h"
#include "serve/steady_clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define NAP_NS INT64_C(50000000) /* between looks at whether the load ends */

/* A request that is inside, or free for the next one. */
struct entry {
	struct fw_bench_load *load;
	int64_t start_ns; /* closed: sent; open: meant to arrive */
	uint32_t phase;   /* open: in which it was meant to arrive */
	uint32_t next;    /* of the free ones */
};

struct fw_bench_load {
	struct fw_bench_load_options options;
	_Atomic uint32_t phase;
	_Atomic bool is_ending;
	_Atomic uint64_t turn; /* of the images */
	struct entry *entries;
	uint32_t n_entries;
	pthread_mutex_t lock; /* of first_free, and of status and err */
	uint32_t first_free;  /* n_entries: none */
	fw_status status;     /* the first unexpected refusal */
	struct fw_error err;
	pthread_t arriving;
	bool has_arriving;
};

static void note_error(struct fw_bench_load *load, fw_status status, const struct fw_error *err)
{
	pthread_mutex_lock(&load->lock);
	if (!load->status) {
		load->status = status;
		load->err = *err;
	}
	pthread_mutex_unlock(&load->lock);
}

/* NULL: as many are inside as the pipeline has slots. */
static struct entry *take_entry(struct fw_bench_load *load)
{
	struct entry *entry = NULL;

	pthread_mutex_lock(&load->lock);
	if (load->first_free < load->n_entries) {
		entry = &load->entries[load->first_free];
		load->first_free = entry->next;
	}
	pthread_mutex_unlock(&load->lock);
	return entry;
}

static void give_entry(struct entry *entry)
{
	struct fw_bench_load *load = entry->load;

	pthread_mutex_lock(&load->lock);
	entry->next = load->first_free;
	load->first_free = (uint32_t)(entry - load->entries);
	pthread_mutex_unlock(&load->lock);
}

static void on_answer(void *user, const struct fw_pipeline_answer *answer);

static fw_status submit(struct entry *entry, struct fw_error *err)
{
	struct fw_bench_load *load = entry->load;
	const struct fw_bench_image *image =
		fw_bench_images_at(load->options.images,
				   atomic_fetch_add_explicit(&load->turn, 1, memory_order_relaxed));
	struct fw_pipeline_request request;

	fw_pipeline_request_init(&request);
	request.bytes = image->bytes;
	request.size = image->size;
	request.timeout_ns = load->options.timeout_ns;
	request.is_waiting = 0;
	request.callback = on_answer;
	request.user = entry;
	return fw_pipeline_submit(load->options.pipeline, &request, err);
}

/* The next one of a closed loop. Its slot is free, as no more than in_flight are inside. */
static void submit_again(struct entry *entry)
{
	struct fw_error err;
	fw_status status;

	entry->start_ns = fw_steady_ns();
	status = submit(entry, &err);
	if (status)
		note_error(entry->load, status, &err);
}

static void count(struct fw_bench_phase *phase, const struct fw_pipeline_answer *answer,
		  int64_t took_ns)
{
	if (answer->outcome == FW_PIPELINE_EXPIRED) {
		phase->expired++;
		return;
	}
	if (answer->outcome != FW_PIPELINE_CLASSIFIED) {
		if (!phase->failed++)
			phase->why = *answer->error;
		return;
	}
	phase->classified++;
	fw_latency_add(&phase->latency, took_ns);
	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++)
		fw_latency_add(&phase->stages[i], answer->stage_ns[i]);
}

static void on_answer(void *user, const struct fw_pipeline_answer *answer)
{
	struct entry *entry = user;
	struct fw_bench_load *load = entry->load;
	bool is_open = load->options.rate > 0;
	uint32_t phase =
		is_open ? entry->phase : atomic_load_explicit(&load->phase, memory_order_relaxed);

	count(&load->options.phases[phase], answer, fw_steady_ns() - entry->start_ns);
	if (is_open)
		give_entry(entry);
	else if (!atomic_load_explicit(&load->is_ending, memory_order_relaxed))
		submit_again(entry);
}

/* Until then, or until the load ends. */
static void sleep_until(const struct fw_bench_load *load, int64_t until_ns)
{
	int64_t now = fw_steady_ns();

	while (now < until_ns && !atomic_load_explicit(&load->is_ending, memory_order_relaxed)) {
		fw_steady_sleep_until(until_ns - now < NAP_NS ? until_ns : now + NAP_NS);
		now = fw_steady_ns();
	}
}

/* One that was meant to arrive at meant_ns. False: the load cannot go on. */
static bool arrive(struct fw_bench_load *load, int64_t meant_ns)
{
	uint32_t number = atomic_load_explicit(&load->phase, memory_order_relaxed);
	struct fw_bench_phase *phase = &load->options.phases[number];
	struct entry *entry = take_entry(load);
	struct fw_error err;
	fw_status status = FW_ERR_NOMEM;

	phase->arrived++;
	fw_latency_add(&phase->late, fw_steady_ns() - meant_ns);
	if (entry) {
		entry->start_ns = meant_ns;
		entry->phase = number;
		status = submit(entry, &err);
		if (status)
			give_entry(entry);
	}
	if (status == FW_ERR_NOMEM)
		phase->refused++;
	else if (status)
		note_error(load, status, &err);
	return !status || status == FW_ERR_NOMEM;
}

static void *arriving_main(void *user)
{
	struct fw_bench_load *load = user;
	struct fw_bench_arrivals arrivals;

	/* The kernel may wake a sleeper 50 us late; this thread's lateness is part of what it measures. */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
	fw_bench_arrivals_init(&arrivals, fw_steady_ns(), load->options.rate, load->options.seed);
	for (;;) {
		int64_t meant_ns = fw_bench_arrivals_next(&arrivals);

		sleep_until(load, meant_ns);
		if (atomic_load_explicit(&load->is_ending, memory_order_relaxed) ||
		    !arrive(load, meant_ns))
			return NULL;
	}
}

static void load_free(struct fw_bench_load *load)
{
	pthread_mutex_destroy(&load->lock);
	free(load->entries);
	free(load);
}

static fw_status load_make(const struct fw_bench_load_options *options, struct fw_bench_load **made,
			   struct fw_error *err)
{
	/* One is freed by its callback, which comes after its slot is free. */
	uint32_t n = options->rate > 0 ? options->slots + 1 : options->in_flight;
	struct fw_bench_load *load = calloc(1, sizeof(*load));

	if (!load)
		return fw_fail_nomem(err, sizeof(*load));
	load->options = *options;
	load->n_entries = n;
	pthread_mutex_init(&load->lock, NULL);
	load->entries = calloc(n, sizeof(*load->entries));
	if (!load->entries) {
		load_free(load);
		return fw_fail_nomem(err, n * sizeof(*load->entries));
	}
	for (uint32_t i = 0; i < n; i++) {
		load->entries[i].load = load;
		load->entries[i].next = i + 1;
	}
	*made = load;
	return FW_OK;
}

fw_status fw_bench_load_start(const struct fw_bench_load_options *options,
			      struct fw_bench_load **load, struct fw_error *err)
{
	struct fw_bench_load *made = NULL;
	fw_status status = load_make(options, &made, err);

	if (status)
		return status;
	if (options->rate > 0) {
		if (pthread_create(&made->arriving, NULL, arriving_main, made)) {
			load_free(made);
			return fw_fail(err, FW_ERR_NOMEM, "cannot start a thread");
		}
		made->has_arriving = true;
	} else {
		for (uint32_t i = 0; i < made->n_entries; i++)
			submit_again(&made->entries[i]);
	}
	*load = made;
	return FW_OK;
}

void fw_bench_load_phase(struct fw_bench_load *load, uint32_t phase)
{
	atomic_store_explicit(&load->phase, phase, memory_order_relaxed);
}

fw_status fw_bench_load_end(struct fw_bench_load *load, struct fw_error *err)
{
	fw_status status;

	atomic_store(&load->is_ending, true);
	if (load->has_arriving)
		pthread_join(load->arriving, NULL);
	fw_pipeline_wait(load->options.pipeline, -1);
	status = load->status;
	if (status && err)
		*err = load->err;
	load_free(load);
	return status;
}

struct one {
	int64_t end_ns;
	bool is_classified;
	struct fw_error err;
};

static void on_one(void *user, const struct fw_pipeline_answer *answer)
{
	struct one *one = user;

	one->end_ns = fw_steady_ns();
	one->is_classified = answer->outcome == FW_PIPELINE_CLASSIFIED;
	if (!one->is_classified)
		one->err = *answer->error;
}

fw_status fw_bench_load_one(struct fw_pipeline *pipeline, const struct fw_bench_image *image,
			    int64_t *took_ns, struct fw_error *err)
{
	struct one one = { .end_ns = 0 };
	struct fw_pipeline_request request;
	int64_t start = fw_steady_ns();
	fw_status status;

	fw_pipeline_request_init(&request);
	request.bytes = image->bytes;
	request.size = image->size;
	request.callback = on_one;
	request.user = &one;
	status = fw_pipeline_submit(pipeline, &request, err);
	if (status)
		return status;
	fw_pipeline_wait(pipeline, -1);
	*took_ns = one.is_classified ? one.end_ns - start : -1;
	if (!one.is_classified && err)
		*err = one.err;
	return FW_OK;
}
