#ifndef FW_TESTS_FAKE_PM_SCRIPT_H
#define FW_TESTS_FAKE_PM_SCRIPT_H
/* The text file $FW_FAKE_PM, read again at every question, so that a test can change it at any time. */
#include <stdbool.h>
#include <stddef.h>

#define FAKE_PM_LINE 512

/* The rest of the index-th line that begins with key and a blank; false: there is none. */
bool fake_pm_line(const char *key, size_t index, char rest[FAKE_PM_LINE]);

/* The number on the last line of that key, or what is usual. */
double fake_pm_number(const char *key, double usual);

#endif
