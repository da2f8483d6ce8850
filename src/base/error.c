#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Marks a message that did not fit. */
static void mark_cut(char *message, size_t cap, int wanted)
{
	if (wanted >= (int)cap)
		memcpy(message + cap - 4, "...", 4);
}

/* Names of files come from others: nothing in a message may steer the terminal that shows it. */
static void make_plain(char *message)
{
	for (unsigned char *p = (unsigned char *)message; *p; p++) {
		bool is_c1 = *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (*p < 0x20 || *p == 0x7f || is_c1)
			*p = '?';
		if (is_c1)
			p[1] = '?';
	}
}

fw_status fw_fail(struct fw_error *err, fw_status code, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		int n;

		err->code = code;
		va_start(ap, fmt);
		n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
		va_end(ap);
		mark_cut(err->message, sizeof(err->message), n);
		make_plain(err->message);
	}
	return code;
}

fw_status fw_fail_nomem(struct fw_error *err, size_t bytes)
{
	return fw_fail(err, FW_ERR_NOMEM, "out of memory: %zu bytes more were needed", bytes);
}

void fw_error_prefix(struct fw_error *err, const char *fmt, ...)
{
	struct fw_error old;
	va_list ap;
	int n, m;

	if (!err)
		return;
	old = *err;
	va_start(ap, fmt);
	n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(err->message)) {
		*err = old;
		return;
	}
	m = snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %s", old.message);
	mark_cut(err->message, sizeof(err->message), n + m);
	make_plain(err->message);
}

const char *fw_status_name(fw_status status)
{
	switch (status) {
	case FW_OK: return "ok";
	case FW_ERR_NOMEM: return "out of memory";
	case FW_ERR_IO: return "input/output";
	case FW_ERR_FORMAT: return "malformed input";
	case FW_ERR_UNSUPPORTED: return "not supported here";
	case FW_ERR_ARGUMENT: return "bad argument";
	case FW_ERR_INTERNAL: return "internal fault";
	}
	return "unknown status";
}

const char *fw_version(void)
{
	return FW_VERSION;
}
