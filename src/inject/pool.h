#ifndef FW_INJECT_POOL_H
#define FW_INJECT_POOL_H
/*
 * The buffers that CUPTI fills. Made once; taken and given back by any thread of the program without a
 * lock, an allocation or a system call; emptied by the writer thread. Each is a block of malloc of its
 * own, since another tool that registers its callbacks with CUPTI may be given one, and free it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_POOL_BUFFERS 256

/* False: no memory. Opening again (after a fork) makes all buffers free. */
bool fw_pool_open(unsigned count, size_t bytes);

/* How many bytes of a buffer are offered from now on, at most what it has. */
void fw_pool_offer(size_t bytes);

/* NULL: none is free, which is counted. */
uint8_t *fw_pool_take(size_t *bytes);

/* CUPTI has filled it. False: it is not one of ours. */
bool fw_pool_give(uint8_t *buffer, size_t valid_bytes);

/* The writer's side: a full buffer, until it is released; NULL: there is none. */
uint8_t *fw_pool_next(size_t *valid_bytes);
void fw_pool_release(uint8_t *buffer);

unsigned fw_pool_out(void);          /* buffers that CUPTI holds */
uint64_t fw_pool_take_refused(void); /* requests refused since the last call */
uint64_t fw_pool_moves(void);        /* how often a buffer was given out or came back */

#endif
