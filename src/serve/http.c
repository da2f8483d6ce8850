/* Between libmicrohttpd and exchanges. */
#include "serve/http.h"

#include "serve/exchange.h"
#include "serve/http_clients.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fw_http {
	struct MHD_Daemon *daemon;
	struct fw_service *service;
	struct fw_http_clients clients;
	unsigned port;
};

static struct fw_http_client *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

static void suspend(void *connection)
{
	MHD_suspend_connection(connection);
}

static void resume(void *connection)
{
	MHD_resume_connection(connection);
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (value && *value) /* a failure leaves a header out that an answer can do without */
		MHD_add_response_header(response, name, value);
}

static void add_headers(struct MHD_Response *response, const struct fw_answer *answer)
{
	char number[24];

	add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	add_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
	add_header(response, "Server-Timing", answer->timing);
	add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (answer->status == 401)
		add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (answer->status == 503)
		add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	if (answer->closes)
		add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (answer->json_bytes) {
		snprintf(number, sizeof(number), "%zu", answer->json_bytes);
		add_header(response, "Inference-Header-Content-Length", number);
	}
}

static enum MHD_Result send_answer(struct fw_http *http, struct MHD_Connection *connection,
				   struct fw_exchange *x)
{
	struct fw_answer *answer = &x->answer;
	size_t len = answer->body.len;
	char *text = fw_str_detach(&answer->body);
	struct MHD_Response *response =
		MHD_create_response_from_buffer(text ? len : 0, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(text);
		return MHD_NO;
	}
	x->bytes_out = text ? len : 0;
	add_headers(response, answer);
	fw_http_client_expect(&http->clients, client_of(connection), true);
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static struct fw_exchange *begin(struct fw_http *http, struct MHD_Connection *connection,
				 const char *url, const char *method)
{
	const struct fw_exchange_head head = {
		.method = method,
		.path = url,
		.authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
		.content_type = header(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
		.content_encoding = header(connection, MHD_HTTP_HEADER_CONTENT_ENCODING),
		.content_length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH),
		.json_length = header(connection, "Inference-Header-Content-Length"),
		.top = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "top"),
		.timeout_ms = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND,
							  "timeout_ms"),
	};

	fw_http_client_expect(&http->clients, client_of(connection), true);
	return fw_exchange_begin(http->service, connection, &head);
}

/* libmicrohttpd calls this for the head, for each piece of the body, at its end, and when a connection was resumed. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	struct fw_http *http = user;
	struct fw_exchange *x = *request;
	struct fw_http_client *client = client_of(connection);

	(void)version;
	if (!client)
		return MHD_NO;
	if (!x) {
		*request = x = begin(http, connection, url, method);
		/* Who waits for "100 Continue" need not send what nobody wants. */
		if (x && x->answer.status && header(connection, MHD_HTTP_HEADER_EXPECT))
			return send_answer(http, connection, x);
		return x ? MHD_YES : MHD_NO;
	}
	if (*upload_size) {
		fw_exchange_body(x, upload, *upload_size);
		fw_http_client_extend(&http->clients, client, *upload_size);
		*upload_size = 0;
		return x->step == FW_EXCHANGE_LOST ? MHD_NO : MHD_YES;
	}
	if (x->step == FW_EXCHANGE_WAITING) {
		fw_exchange_finish(x);
	} else {
		fw_http_client_expect(&http->clients, client, false);
		fw_exchange_end(x);
		if (x->step == FW_EXCHANGE_WAITING)
			return MHD_YES;
	}
	return send_answer(http, connection, x);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **request,
			 enum MHD_RequestTerminationCode code)
{
	struct fw_http *http = user;
	struct fw_exchange *x = *request;
	struct fw_http_client *client = client_of(connection);
	bool is_sent = code == MHD_REQUEST_TERMINATED_COMPLETED_OK;

	*request = NULL;
	if (client)
		fw_http_client_expect(&http->clients, client, true);
	if (x)
		fw_exchange_close(x, client ? client->name : "?", is_sent ? x->answer.status : 0);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct fw_http *http = user;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;

		*context = fw_http_client_add(
			&http->clients, fd,
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
				->client_addr);
	} else if (*context) {
		fw_http_client_remove(&http->clients, *context);
		*context = NULL;
	}
}

/* What libmicrohttpd would say on standard error: of clients, whom nobody can help. */
static void say_nothing(void *user, const char *format, va_list ap)
{
	(void)user;
	(void)format;
	(void)ap;
}

static fw_status start(struct fw_http *http, const struct fw_address *address, struct fw_error *err)
{
	const struct fw_service_options *o = &http->service->options;
	unsigned flags =
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	const union MHD_DaemonInfo *info;

	if (address->any.sa_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	/* The logger comes first: options after it may have something to say. A pool of one thread is none. */
	http->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing,
		NULL, MHD_OPTION_SOCK_ADDR, &address->any, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
		MHD_OPTION_CONNECTION_LIMIT, o->max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)o->max_head, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
		MHD_OPTION_THREAD_POOL_SIZE, o->http_threads > 1 ? o->http_threads : 0u,
		MHD_OPTION_END);
	if (!http->daemon)
		return fw_fail(err, FW_ERR_IO, "cannot listen: %s",
			       errno ? strerror(errno) : "libmicrohttpd refused");
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
	http->port = info ? info->port : 0;
	return FW_OK;
}

fw_status fw_http_open(struct fw_http **http, struct fw_service *service,
		       const struct fw_address *address, struct fw_error *err)
{
	struct fw_http *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->service = service;
	service->suspend = suspend;
	service->resume = resume;
	made->clients.connections = &service->counts.connections;
	made->clients.slow = &service->counts.slow;
	if (!fw_http_clients_open(&made->clients, service->options.timeout_ns))
		status = fw_fail(err, FW_ERR_IO, "cannot start a thread");
	else
		status = start(made, address, err);
	if (status) {
		fw_http_close(made);
		return status;
	}
	*http = made;
	return FW_OK;
}

unsigned fw_http_port(const struct fw_http *http)
{
	return http->port;
}

void fw_http_close(struct fw_http *http)
{
	if (!http)
		return;
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	fw_http_clients_close(&http->clients);
	free(http);
}
