#include "import/ahead.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct block {
	unsigned char bytes[FW_AHEAD_BYTES];
	size_t len; /* 0: the end, or an error */
	fw_status status;
	struct fw_error err;
};

struct fw_ahead {
	fw_ahead_fill fill;
	void *user;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock: blocks first .. first + ready - 1, modulo their number, are the reader's. */
	unsigned first, ready;
	bool is_stopping;
	/* The reader's. */
	size_t used; /* bytes taken of the first block */
	struct block blocks[FW_AHEAD_BLOCKS];
};

/* Fills a block; false after the last one. */
static bool fill_block(struct fw_ahead *a, struct block *b)
{
	size_t got = 1;

	b->len = 0;
	b->status = FW_OK;
	while (got && b->len < FW_AHEAD_BYTES) {
		fw_status status =
			a->fill(a->user, b->bytes + b->len, FW_AHEAD_BYTES - b->len, &got, &b->err);

		if (status) {
			b->status = status;
			return false;
		}
		b->len += got;
	}
	return b->len > 0;
}

/* The block to fill next, once there is one; NULL when the reader stops. */
static struct block *wait_for_room(struct fw_ahead *a)
{
	struct block *b = NULL;

	pthread_mutex_lock(&a->lock);
	while (a->ready == FW_AHEAD_BLOCKS && !a->is_stopping)
		pthread_cond_wait(&a->changed, &a->lock);
	if (!a->is_stopping)
		b = &a->blocks[(a->first + a->ready) % FW_AHEAD_BLOCKS];
	pthread_mutex_unlock(&a->lock);
	return b;
}

static void *run(void *arg)
{
	struct fw_ahead *a = arg;
	struct block *b;
	bool more = true;

	while (more && (b = wait_for_room(a))) {
		more = fill_block(a, b);
		pthread_mutex_lock(&a->lock);
		a->ready++;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

fw_status fw_ahead_start(struct fw_ahead **ahead, fw_ahead_fill fill, void *user,
			 struct fw_error *err)
{
	struct fw_ahead *a = malloc(sizeof(*a));
	int error;

	if (!a)
		return fw_fail_nomem(err, sizeof(*a));
	a->fill = fill;
	a->user = user;
	a->first = a->ready = 0;
	a->used = 0;
	a->is_stopping = false;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	error = pthread_create(&a->thread, NULL, run, a);
	if (error) {
		free(a);
		return fw_fail(err, FW_ERR_IO, "cannot start a thread: %s", strerror(error));
	}
	*ahead = a;
	return FW_OK;
}

static struct block *wait_for_block(struct fw_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	while (!a->ready)
		pthread_cond_wait(&a->changed, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return &a->blocks[a->first];
}

static void give_back(struct fw_ahead *a)
{
	a->used = 0;
	pthread_mutex_lock(&a->lock);
	a->first = (a->first + 1) % FW_AHEAD_BLOCKS;
	a->ready--;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

fw_status fw_ahead_read(struct fw_ahead *a, void *buffer, size_t size, size_t *got,
			struct fw_error *err)
{
	struct block *b = wait_for_block(a);
	size_t left = b->len - a->used;

	*got = left < size ? left : size;
	memcpy(buffer, b->bytes + a->used, *got);
	a->used += *got;
	/* The last block stays, so that reading on after the end gives the end again. */
	if (!left) {
		if (b->status && err)
			*err = b->err;
		return b->status;
	}
	if (a->used == b->len && !b->status)
		give_back(a);
	return FW_OK;
}

void fw_ahead_stop(struct fw_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->is_stopping = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	free(a);
}
