#ifndef FW_BASE_STR_H
#define FW_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A growing NUL-terminated string. One thread. Initialise with {0}. A failed allocation sets `failed`
 * and makes every later append a no-op, so that callers check once, at the end.
 */
struct fw_str {
	char *data; /* NULL until the first append; use fw_str_text() */
	size_t len, cap;
	bool failed;
	/*
	 * If set: takes what has gathered, now and then, and at fw_str_drain(), so that a long text never
	 * lies in memory as a whole; false: it is lost, the string fails.
	 */
	bool (*drain)(void *user, const char *bytes, size_t len);
	void *user;
};

void fw_str_append(struct fw_str *str, const char *bytes, size_t len);
void fw_str_puts(struct fw_str *str, const char *text);
void fw_str_putc(struct fw_str *str, char c);
void fw_str_repeat(struct fw_str *str, const char *text, size_t times);
void fw_str_printf(struct fw_str *str, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text, never NULL; owned by str. */
const char *fw_str_text(const struct fw_str *str);

/* Hands what is left to the drain; false if an append or the drain failed. */
bool fw_str_drain(struct fw_str *str);

/* Empties it, keeps the memory. */
void fw_str_clear(struct fw_str *str);

/* Hands the text over to the caller, who frees it; NULL if an append failed. str is empty after. */
char *fw_str_detach(struct fw_str *str);

void fw_str_release(struct fw_str *str);

#endif
