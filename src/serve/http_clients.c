#include "serve/http_clients.h"

#include "serve/service.h"
#include "serve/steady_clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS INT64_C(100000000)
/* A body that comes at this rate may be as long as it likes. */
#define BYTES_PER_S 65536

/* Who is late is shut out: the server sees the end of the connection and closes it. */
static void shut_late(struct fw_http_clients *clients)
{
	int64_t now = fw_steady_ns();

	for (struct fw_http_client *c = clients->first.next; c != &clients->first; c = c->next)
		if (c->until_ns <= now) {
			c->until_ns = INT64_MAX;
			fw_counter_add(clients->slow, 1);
			shutdown(c->fd, SHUT_RDWR);
		}
}

static void *look(void *user)
{
	struct fw_http_clients *clients = user;

	pthread_mutex_lock(&clients->lock);
	while (!clients->is_ending) {
		int64_t next = fw_steady_ns() + LOOK_NS;
		const struct timespec until = { .tv_sec = (time_t)(next / 1000000000),
						.tv_nsec = (long)(next % 1000000000) };

		pthread_cond_timedwait(&clients->ended, &clients->lock, &until);
		shut_late(clients);
	}
	pthread_mutex_unlock(&clients->lock);
	return NULL;
}

bool fw_http_clients_open(struct fw_http_clients *clients, int64_t timeout_ns)
{
	pthread_condattr_t monotonic;

	clients->first.next = clients->first.before = &clients->first;
	clients->timeout_ns = timeout_ns;
	pthread_mutex_init(&clients->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&clients->ended, &monotonic);
	pthread_condattr_destroy(&monotonic);
	clients->has_thread = !pthread_create(&clients->thread, NULL, look, clients);
	return clients->has_thread;
}

void fw_http_clients_close(struct fw_http_clients *clients)
{
	pthread_mutex_lock(&clients->lock);
	clients->is_ending = true;
	pthread_cond_signal(&clients->ended);
	pthread_mutex_unlock(&clients->lock);
	if (clients->has_thread)
		pthread_join(clients->thread, NULL);
	pthread_cond_destroy(&clients->ended);
	pthread_mutex_destroy(&clients->lock);
}

static void name(char *to, size_t cap, const struct sockaddr *address)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET) {
		struct sockaddr_in v4;

		memcpy(&v4, address, sizeof(v4));
		inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
		snprintf(to, cap, "%s:%u", host, ntohs(v4.sin_port));
	} else if (address->sa_family == AF_INET6) {
		struct sockaddr_in6 v6;

		memcpy(&v6, address, sizeof(v6));
		inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
		snprintf(to, cap, "[%s]:%u", host, ntohs(v6.sin6_port));
	}
}

struct fw_http_client *fw_http_client_add(struct fw_http_clients *clients, int fd,
					  const struct sockaddr *address)
{
	struct fw_http_client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	if (address)
		name(c->name, sizeof(c->name), address);
	pthread_mutex_lock(&clients->lock);
	c->until_ns = fw_steady_ns() + clients->timeout_ns;
	c->next = &clients->first;
	c->before = clients->first.before;
	c->before->next = clients->first.before = c;
	pthread_mutex_unlock(&clients->lock);
	fw_gauge_add(clients->connections, 1);
	return c;
}

void fw_http_client_remove(struct fw_http_clients *clients, struct fw_http_client *c)
{
	pthread_mutex_lock(&clients->lock);
	c->before->next = c->next;
	c->next->before = c->before;
	pthread_mutex_unlock(&clients->lock);
	fw_gauge_add(clients->connections, -1);
	free(c);
}

void fw_http_client_expect(struct fw_http_clients *clients, struct fw_http_client *c,
			   bool is_expected)
{
	pthread_mutex_lock(&clients->lock);
	c->until_ns = is_expected ? fw_steady_ns() + clients->timeout_ns : INT64_MAX;
	pthread_mutex_unlock(&clients->lock);
}

void fw_http_client_extend(struct fw_http_clients *clients, struct fw_http_client *c, size_t bytes)
{
	int64_t more = (int64_t)(bytes * (UINT64_C(1000000000) / BYTES_PER_S));

	pthread_mutex_lock(&clients->lock);
	if (c->until_ns < INT64_MAX - more)
		c->until_ns += more;
	pthread_mutex_unlock(&clients->lock);
}
