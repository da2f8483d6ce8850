#ifndef FW_SERVE_HTTP_H
#define FW_SERVE_HTTP_H
/* The service over HTTP/1.1, with libmicrohttpd. */
#include "base/address.h"
#include "serve/service.h"

struct fw_http;

/* Listens and answers at once. The service outlives it. FW_ERR_IO: the address is taken, or not one of this machine. */
fw_status fw_http_open(struct fw_http **http, struct fw_service *service,
		       const struct fw_address *address, struct fw_error *err);

unsigned fw_http_port(const struct fw_http *http);

/* Closes all connections. The pipeline must have answered everything. */
void fw_http_close(struct fw_http *http);

#endif
