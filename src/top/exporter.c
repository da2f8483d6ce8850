#include "top/exporter.h"

#include "base/address.h"
#include "metrics/openmetrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONNECTIONS 32 /* at a time; more wait or are refused */
#define TIMEOUT_S   10u

/* Of an answer's text, several connections may still be sending an older one. */
struct fw_exporter {
	struct MHD_Daemon *daemon;
	unsigned port;
	double stale_s;
	pthread_mutex_t lock; /* guards all below */
	struct MHD_Response *metrics;
	bool is_healthy;
	char why[256];
	struct timespec published;
};

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned code, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_metrics(struct fw_exporter *exporter, struct MHD_Connection *connection)
{
	enum MHD_Result result = MHD_NO;
	bool has_metrics;

	pthread_mutex_lock(&exporter->lock);
	has_metrics = exporter->metrics != NULL;
	if (has_metrics) /* the connection holds the response until it is sent */
		result = MHD_queue_response(connection, MHD_HTTP_OK, exporter->metrics);
	pthread_mutex_unlock(&exporter->lock);
	if (!has_metrics)
		return send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "no reading yet\n");
	return result;
}

static enum MHD_Result send_health(struct fw_exporter *exporter, struct MHD_Connection *connection)
{
	struct timespec now;
	char text[320];
	double age;
	bool is_healthy;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&exporter->lock);
	age = (double)(now.tv_sec - exporter->published.tv_sec) +
	      (double)(now.tv_nsec - exporter->published.tv_nsec) * 1e-9;
	is_healthy = exporter->metrics && exporter->is_healthy && age <= exporter->stale_s;
	if (!exporter->metrics)
		snprintf(text, sizeof(text), "no reading yet\n");
	else if (!exporter->is_healthy)
		snprintf(text, sizeof(text), "%s\n", exporter->why);
	else if (age > exporter->stale_s)
		snprintf(text, sizeof(text), "the last reading is %.1f s old\n", age);
	else
		snprintf(text, sizeof(text), "ok\n");
	pthread_mutex_unlock(&exporter->lock);
	return send_text(connection, is_healthy ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	static int seen; /* its address marks a request whose head was read */
	struct fw_exporter *exporter = user;

	(void)version;
	(void)upload;
	if (!*request) {
		*request = &seen;
		return MHD_YES;
	}
	if (*upload_size) { /* a body that nobody asked for is read and dropped */
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (!strcmp(url, "/metrics"))
		return send_metrics(exporter, connection);
	if (!strcmp(url, "/healthz"))
		return send_health(exporter, connection);
	if (!strcmp(url, "/"))
		return send_text(connection, MHD_HTTP_OK, "fullwarp top: /metrics, /healthz\n");
	return send_text(connection, MHD_HTTP_NOT_FOUND, "there are /metrics and /healthz\n");
}

static fw_status start(struct fw_exporter *exporter, const struct fw_address *address,
		       const char *text, struct fw_error *err)
{
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;
	const union MHD_DaemonInfo *info;

	if (address->any.sa_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	exporter->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, answer, exporter, MHD_OPTION_SOCK_ADDR, &address->any,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_END);
	if (!exporter->daemon)
		return fw_fail(err, FW_ERR_IO, "cannot listen on %s: %s", text,
			       errno ? strerror(errno) : "the HTTP library refused");
	info = MHD_get_daemon_info(exporter->daemon, MHD_DAEMON_INFO_BIND_PORT);
	exporter->port = info ? info->port : 0;
	return FW_OK;
}

fw_status fw_exporter_open(struct fw_exporter **exporter, const char *address, double stale_s,
			   struct fw_error *err)
{
	struct fw_address parsed;
	struct fw_exporter *e;
	fw_status status;

	*exporter = NULL;
	if (!fw_address_parse(address, &parsed))
		return fw_fail(err, FW_ERR_ARGUMENT, "'%s' is not ADDRESS:PORT", address);
	e = calloc(1, sizeof(*e));
	if (!e)
		return fw_fail_nomem(err, sizeof(*e));
	e->stale_s = stale_s;
	if (pthread_mutex_init(&e->lock, NULL)) {
		free(e);
		return fw_fail(err, FW_ERR_IO, "no mutex");
	}
	status = start(e, &parsed, address, err);
	if (status)
		fw_exporter_close(e);
	else
		*exporter = e;
	return status;
}

unsigned fw_exporter_port(const struct fw_exporter *exporter)
{
	return exporter->port;
}

fw_status fw_exporter_publish(struct fw_exporter *exporter, const char *text, bool is_healthy,
			      const char *why)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	struct MHD_Response *old;

	if (!response)
		return FW_ERR_NOMEM;
	MHD_add_response_header(response, "Content-Type", FW_OPENMETRICS_CONTENT_TYPE);
	pthread_mutex_lock(&exporter->lock);
	old = exporter->metrics;
	exporter->metrics = response;
	exporter->is_healthy = is_healthy;
	snprintf(exporter->why, sizeof(exporter->why), "%s", why);
	clock_gettime(CLOCK_MONOTONIC, &exporter->published);
	pthread_mutex_unlock(&exporter->lock);
	if (old)
		MHD_destroy_response(old);
	return FW_OK;
}

void fw_exporter_close(struct fw_exporter *exporter)
{
	if (!exporter)
		return;
	if (exporter->daemon)
		MHD_stop_daemon(exporter->daemon);
	if (exporter->metrics)
		MHD_destroy_response(exporter->metrics);
	pthread_mutex_destroy(&exporter->lock);
	free(exporter);
}
