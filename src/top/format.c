#include "top/format.h"

#include <math.h>
#include <stdio.h>

static bool is_unknown(char text[FW_FORMAT_BYTES], struct fw_value value)
{
	if (fw_value_is_known(value))
		return false;
	snprintf(text, FW_FORMAT_BYTES, "?");
	return true;
}

void fw_format_percent(char text[FW_FORMAT_BYTES], struct fw_value value)
{
	if (!is_unknown(text, value))
		snprintf(text, FW_FORMAT_BYTES, "%.*f %%", value.number < 9.95 && value.number > 0,
			 value.number);
}

/* Scales bytes down to below 1024; the unit's letter, 0: none. */
static char scale_bytes(double *bytes)
{
	static const char letters[] = "KMGTP";
	char letter = '\0';

	for (size_t i = 0; i < sizeof(letters) - 1 && *bytes >= 1023.5; i++) {
		*bytes /= 1024;
		letter = letters[i];
	}
	return letter;
}

void fw_format_bytes(char text[FW_FORMAT_BYTES], struct fw_value value)
{
	double n = value.number;
	char letter;

	if (is_unknown(text, value))
		return;
	letter = scale_bytes(&n);
	if (letter)
		snprintf(text, FW_FORMAT_BYTES, "%.*f %ciB", n < 99.95, n, letter);
	else
		snprintf(text, FW_FORMAT_BYTES, "%.0f B", n);
}

void fw_format_bytes_short(char text[FW_FORMAT_BYTES], struct fw_value value)
{
	double n = value.number;
	char letter;

	if (is_unknown(text, value))
		return;
	letter = scale_bytes(&n);
	if (letter)
		snprintf(text, FW_FORMAT_BYTES, "%.*f%c", n < 99.95, n, letter);
	else
		snprintf(text, FW_FORMAT_BYTES, "%.0f", n);
}

void fw_format_count(char text[FW_FORMAT_BYTES], struct fw_value value)
{
	if (!is_unknown(text, value))
		snprintf(text, FW_FORMAT_BYTES, "%.0f", value.number);
}

void fw_format_duration(char text[FW_FORMAT_BYTES], double seconds)
{
	if (!(seconds < 1e9))
		snprintf(text, FW_FORMAT_BYTES, "over 30 years");
	else if (seconds < 90)
		snprintf(text, FW_FORMAT_BYTES, "%.0f s", seconds);
	else if (seconds < 5400)
		snprintf(text, FW_FORMAT_BYTES, "%.0f min", seconds / 60);
	else if (seconds < 172800)
		snprintf(text, FW_FORMAT_BYTES, "%d h %02d min", (int)(seconds / 3600),
			 (int)(seconds / 60) % 60);
	else
		snprintf(text, FW_FORMAT_BYTES, "%.0f d", seconds / 86400);
}

void fw_format_bars(struct fw_str *out, const struct fw_history *history, unsigned width,
		    double most, bool is_ascii)
{
	static const char *const bars[] = { "\u2581", "\u2582", "\u2583", "\u2584",
					    "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const ascii[] = { "_", ".", ":", "-", "=", "+", "*", "#" };

	for (unsigned back = width; back-- > 0;) {
		double point = fw_history_at(history, back);
		int level = 0;

		if (isnan(point)) {
			fw_str_putc(out, ' ');
			continue;
		}
		if (most > 0)
			level = (int)(point / most * 8);
		level = level < 0 ? 0 : level > 7 ? 7 : level;
		fw_str_puts(out, is_ascii ? ascii[level] : bars[level]);
	}
}
