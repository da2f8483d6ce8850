/* Text to socket addresses. */
#include "base/address.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool parse_port(const char *text, uint16_t *port)
{
	unsigned n = 0;
	size_t len = strlen(text);

	if (!len || len > 5 || strspn(text, "0123456789") != len)
		return false;
	for (; *text; text++)
		n = n * 10 + (unsigned)(*text - '0');
	*port = htons((uint16_t)n);
	return n <= 65535;
}

bool fw_address_parse(const char *text, struct fw_address *address)
{
	char host[64] = "127.0.0.1";
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	size_t len = colon ? (size_t)(colon - text) : 0;
	uint16_t number;

	if (len >= sizeof(host) || !parse_port(port, &number))
		return false;
	if (len)
		snprintf(host, sizeof(host), "%.*s", (int)len, text);
	memset(address, 0, sizeof(*address));
	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = number;
		return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1;
	}
	address->v4.sin_family = AF_INET;
	address->v4.sin_port = number;
	return inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1",
			 &address->v4.sin_addr) == 1;
}

bool fw_address_is_loopback(const struct fw_address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
}
