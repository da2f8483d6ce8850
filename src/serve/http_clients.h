#ifndef FW_SERVE_HTTP_CLIENTS_H
#define FW_SERVE_HTTP_CLIENTS_H
/*
 * Connections and how long their clients may take. libmicrohttpd's own timeout begins anew with each byte; here a head, a
 * body and an answer have a moment each when they must be over, whatever trickles in. Any thread.
 */
#include "metrics/instruments.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct fw_http_client {
	struct fw_http_client *next, *before;
	int fd;
	int64_t until_ns; /* INT64_MAX: it is not the client who is waited for */
	char name[64];    /* "127.0.0.1:4711" */
};

struct fw_http_clients {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	pthread_t thread;
	bool has_thread, is_ending;
	struct fw_http_client first; /* of a ring */
	int64_t timeout_ns;
	struct fw_gauge *connections;
	struct fw_counter *slow;
};

/* False: no thread. */
bool fw_http_clients_open(struct fw_http_clients *clients, int64_t timeout_ns);
void fw_http_clients_close(struct fw_http_clients *clients);

/* NULL: no memory. */
struct fw_http_client *fw_http_client_add(struct fw_http_clients *clients, int fd,
					  const struct sockaddr *address);
/* Before the descriptor is closed. */
void fw_http_client_remove(struct fw_http_clients *clients, struct fw_http_client *client);

/* The client has its time from now on, or all that it wants. */
void fw_http_client_expect(struct fw_http_clients *clients, struct fw_http_client *client,
			   bool is_expected);

/* So much of a body came: that gives it more time. */
void fw_http_client_extend(struct fw_http_clients *clients, struct fw_http_client *client,
			   size_t bytes);

#endif
