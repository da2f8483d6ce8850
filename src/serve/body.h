#ifndef FW_SERVE_BODY_H
#define FW_SERVE_BODY_H
/*
 * Where bodies of requests lie: one place of max_body bytes of address space for each connection, and a budget of bytes that
 * all bodies together may take. A body takes from it as its bytes arrive, so that a client that only promises bytes holds
 * none. The first pages of a place are kept, the others go back to the system when the body is released.
 */
#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fw_inflate;

/* What a place keeps. */
#define FW_BODY_KEPT ((size_t)256 << 10)

/* The pool: any thread. */
struct fw_bodies {
	unsigned char *memory;
	size_t max_body, stride; /* bytes of a place: max_body in whole pages */
	uint32_t count;
	uint64_t budget;
	_Atomic uint64_t used;
};

/* One thread at a time. */
struct fw_body {
	struct fw_bodies *bodies;
	unsigned char *bytes;
	size_t size, charged;
	struct fw_inflate *inflate; /* NULL: bytes come as they are */
};

fw_status fw_bodies_open(struct fw_bodies *bodies, uint32_t count, size_t max_body, uint64_t budget,
			 struct fw_error *err);
void fw_bodies_close(struct fw_bodies *bodies);

/* The body of a place, empty. */
void fw_body_init(struct fw_body *body, struct fw_bodies *bodies, uint32_t place);

/* What follows is gzip or zlib ("deflate"). */
fw_status fw_body_compressed(struct fw_body *body, struct fw_error *err);

/*
 * FW_ERR_UNSUPPORTED: more than max_body, inflated; FW_ERR_NOMEM: the budget is used up; FW_ERR_FORMAT: not gzip. After a
 * failure the body takes no more.
 */
fw_status fw_body_append(struct fw_body *body, const void *bytes, size_t size,
			 struct fw_error *err);

/* The last byte has come. FW_ERR_FORMAT: the compressed stream is not whole. */
fw_status fw_body_end(struct fw_body *body, struct fw_error *err);

/* Makes it `size` bytes long, with what is there. Failures as of append. */
fw_status fw_body_resize(struct fw_body *body, size_t size, struct fw_error *err);

/* The HTTP status for a request whose body met this: 413, 503, else 400. */
unsigned fw_body_status(fw_status status);

/* Gives everything back. */
void fw_body_release(struct fw_body *body);

#endif
