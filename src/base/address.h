#ifndef FW_BASE_ADDRESS_H
#define FW_BASE_ADDRESS_H
/* Where a server listens. */
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

struct fw_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
};

/* "PORT" or ":PORT" (loopback), "IPv4:PORT", "localhost:PORT" or "[IPv6]:PORT"; no other names. False: not that. */
bool fw_address_parse(const char *text, struct fw_address *address);

/* Only programs of the same machine reach it. */
bool fw_address_is_loopback(const struct fw_address *address);

#endif
