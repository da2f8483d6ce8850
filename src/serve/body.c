/* Bodies of requests in memory that was reserved at the start. */
#include "serve/body.h"

#include "serve/inflate.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A body takes from the budget in steps of this. */
#define STEP ((size_t)64 << 10)
/* Address space: half of what a process has on x86-64. */
#define MAX_SPACE (UINT64_C(1) << 46)

fw_status fw_bodies_open(struct fw_bodies *bodies, uint32_t count, size_t max_body, uint64_t budget,
			 struct fw_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t stride = (max_body + page - 1) / page * page;
	void *memory;

	*bodies = (struct fw_bodies){ .memory = NULL };
	if (stride < max_body || stride > MAX_SPACE / count)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%u bodies of %zu bytes are more than there is address space for",
			       count, max_body);
	memory = mmap(NULL, stride * count, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return fw_fail(err, FW_ERR_NOMEM, "%zu bytes of address space for bodies: %s",
			       stride * count, strerror(errno));
	bodies->memory = memory;
	bodies->max_body = max_body;
	bodies->stride = stride;
	bodies->count = count;
	bodies->budget = budget;
	return FW_OK;
}

void fw_bodies_close(struct fw_bodies *bodies)
{
	if (bodies->memory)
		munmap(bodies->memory, bodies->stride * bodies->count);
	bodies->memory = NULL;
}

void fw_body_init(struct fw_body *body, struct fw_bodies *bodies, uint32_t place)
{
	*body = (struct fw_body){ .bodies = bodies,
				  .bytes = bodies->memory + (size_t)place * bodies->stride };
}

fw_status fw_body_compressed(struct fw_body *body, struct fw_error *err)
{
	return fw_inflate_open(&body->inflate, err);
}

static fw_status charge(struct fw_body *body, size_t size, struct fw_error *err)
{
	struct fw_bodies *bodies = body->bodies;
	size_t step;

	if (size > bodies->max_body)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "the body is larger than the %zu bytes allowed", bodies->max_body);
	if (size <= body->charged)
		return FW_OK;
	step = (size - body->charged + STEP - 1) / STEP * STEP;
	if (atomic_fetch_add(&bodies->used, step) + step > bodies->budget) {
		atomic_fetch_sub(&bodies->used, step);
		return fw_fail(err, FW_ERR_NOMEM,
			       "the bodies of all requests take the %llu bytes allowed: try again "
			       "later",
			       (unsigned long long)bodies->budget);
	}
	body->charged += step;
	return FW_OK;
}

fw_status fw_body_resize(struct fw_body *body, size_t size, struct fw_error *err)
{
	fw_status status = charge(body, size, err);

	if (!status)
		body->size = size;
	return status;
}

static fw_status append_compressed(struct fw_body *body, const void *bytes, size_t size,
				   struct fw_error *err)
{
	fw_status status = fw_inflate_feed(body->inflate, bytes, size, err);
	bool has_more = true;

	while (!status && has_more) {
		size_t left = body->bodies->max_body - body->size;
		size_t room = left < STEP ? left : STEP, n = 0;
		unsigned char beyond; /* of a full body, where the stream may end or go on */

		status = charge(body, body->size + room, err);
		if (!status)
			status = fw_inflate_take(body->inflate,
						 room ? body->bytes + body->size : &beyond,
						 room ? room : 1, &n, err);
		if (!status && n > left)
			status = charge(body, SIZE_MAX, err);
		body->size += n > left ? 0 : n;
		has_more = n && n == room;
	}
	return status;
}

fw_status fw_body_append(struct fw_body *body, const void *bytes, size_t size, struct fw_error *err)
{
	fw_status status;

	if (body->inflate)
		return append_compressed(body, bytes, size, err);
	if (size > body->bodies->max_body - body->size)
		return charge(body, SIZE_MAX, err);
	status = charge(body, body->size + size, err);
	if (status)
		return status;
	memcpy(body->bytes + body->size, bytes, size);
	body->size += size;
	return FW_OK;
}

fw_status fw_body_end(struct fw_body *body, struct fw_error *err)
{
	if (body->inflate && !fw_inflate_is_whole(body->inflate))
		return fw_fail(err, FW_ERR_FORMAT, "the compressed body ends in the middle");
	return FW_OK;
}

unsigned fw_body_status(fw_status status)
{
	if (status == FW_ERR_UNSUPPORTED)
		return 413;
	return status == FW_ERR_NOMEM ? 503 : 400;
}

void fw_body_release(struct fw_body *body)
{
	fw_inflate_close(body->inflate);
	body->inflate = NULL;
	if (body->charged > FW_BODY_KEPT) {
		size_t end =
			body->charged < body->bodies->stride ? body->charged : body->bodies->stride;

		madvise(body->bytes + FW_BODY_KEPT, end - FW_BODY_KEPT, MADV_DONTNEED);
	}
	if (body->charged)
		atomic_fetch_sub(&body->bodies->used, body->charged);
	body->charged = body->size = 0;
}
