/* The exporter over real sockets. The thread sanitizer runs it too. */
#include "top/exporter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct fw_exporter *exporter;

static int begin(void **state)
{
	(void)state;
	return fw_exporter_open(&exporter, "127.0.0.1:0", 0.3, NULL);
}

static int end(void **state)
{
	(void)state;
	fw_exporter_close(exporter);
	return 0;
}

/* Sends a request and reads the whole answer, NUL-terminated; the answer's code, -1: none. */
static int ask(const char *request, char answer[65536])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)fw_exporter_port(exporter)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), code = -1;
	size_t len = 0;
	ssize_t n;

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    send(fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
		close(fd);
		return -1;
	}
	while (len < 65535 && (n = recv(fd, answer + len, 65535 - len, 0)) > 0)
		len += (size_t)n;
	close(fd);
	answer[len] = '\0';
	return sscanf(answer, "HTTP/1.1 %d", &code) == 1 ? code : -1;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static void serves_metrics_and_health(void **state)
{
	static char answer[65536];

	(void)state;
	assert_int_equal(ask(GET("/metrics"), answer), 503); /* nothing yet */
	assert_int_equal(ask(GET("/healthz"), answer), 503);
	assert_int_equal(fw_exporter_publish(exporter, "a 1\n# EOF\n", true, ""), FW_OK);
	assert_int_equal(ask(GET("/metrics"), answer), 200);
	assert_non_null(
		strstr(answer, "Content-Type: application/openmetrics-text; version=1.0.0"));
	assert_non_null(strstr(answer, "\r\n\r\na 1\n# EOF\n"));
	assert_int_equal(ask(GET("/healthz"), answer), 200);
	fw_exporter_publish(exporter, "a 2\n# EOF\n", false, "the GPU is lost");
	assert_int_equal(ask(GET("/healthz"), answer), 503);
	assert_non_null(strstr(answer, "the GPU is lost"));
	fw_exporter_publish(exporter, "a 3\n# EOF\n", true, "");
	usleep(400000); /* older than 0.3 s */
	assert_int_equal(ask(GET("/healthz"), answer), 503);
	assert_non_null(strstr(answer, "s old"));
	assert_int_equal(ask(GET("/metrics"), answer), 200);
}

static void refuses_what_it_does_not_have(void **state)
{
	static char answer[65536], huge[40000];

	(void)state;
	assert_int_equal(ask(GET("/"), answer), 200);
	assert_int_equal(ask(GET("/../etc/passwd"), answer), 404);
	assert_int_equal(ask("POST /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
			     "Content-Length: 3\r\n\r\nabc",
			     answer),
			 405);
	assert_non_null(strstr(answer, "Allow: GET, HEAD"));
	memset(huge, 'a', sizeof(huge) - 1);
	memcpy(huge, "GET /", 5);
	memcpy(huge + sizeof(huge) - 30, " HTTP/1.1\r\nHost: a\r\n\r\n", 22);
	assert_int_not_equal(ask(huge, answer), 200);
	assert_int_not_equal(ask("\x16\x03\x01 garbage\r\n\r\n", answer), 200);
	assert_int_equal(ask(GET("/"), answer), 200); /* still there */
}

static void *publish(void *arg)
{
	for (int i = 0; i < 200; i++)
		fw_exporter_publish(exporter, i % 2 ? "b 1\n# EOF\n" : "c 1\n# EOF\n", true, "");
	return arg;
}

static void texts_change_while_clients_read(void **state)
{
	static char answer[65536];
	pthread_t thread;

	(void)state;
	fw_exporter_publish(exporter, "b 1\n# EOF\n", true, "");
	assert_int_equal(pthread_create(&thread, NULL, publish, NULL), 0);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(ask(GET("/metrics"), answer), 200);
		assert_true(strstr(answer, "\r\n\r\nb 1\n# EOF\n") ||
			    strstr(answer, "\r\n\r\nc 1\n# EOF\n"));
	}
	pthread_join(thread, NULL);
}

static void reads_addresses(void **state)
{
	static const char *const wrong[] = {
		"",       ":",       "x",           "127.0.0.1",  "1.2.3:9000",
		":65536", ":-1",     ":9 ",         "example:80", "[::1:9000",
		"[]:1",   ":123456", "127.0.0.1:x", "::1:9000",   "[zz]:9000"
	};
	static const char *const right[] = { "0", ":0", "localhost:0", "127.0.0.1:0" };
	struct fw_error err;
	struct fw_exporter *other;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(fw_exporter_open(&other, wrong[i], 1, &err), FW_ERR_ARGUMENT);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_int_equal(fw_exporter_open(&other, right[i], 1, &err), FW_OK);
		assert_int_not_equal(fw_exporter_port(other), 0);
		fw_exporter_close(other);
	}
}

static void a_port_in_use_is_said(void **state)
{
	struct fw_error err = { 0 };
	struct fw_exporter *other;
	char address[32];

	(void)state;
	snprintf(address, sizeof(address), ":%u", fw_exporter_port(exporter));
	assert_int_equal(fw_exporter_open(&other, address, 1, &err), FW_ERR_IO);
	assert_non_null(strstr(err.message, "in use"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(serves_metrics_and_health, begin, end),
		cmocka_unit_test_setup_teardown(refuses_what_it_does_not_have, begin, end),
		cmocka_unit_test_setup_teardown(texts_change_while_clients_read, begin, end),
		cmocka_unit_test(reads_addresses),
		cmocka_unit_test_setup_teardown(a_port_in_use_is_said, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
