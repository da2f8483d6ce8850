#include "top/history.h"

#include <math.h>

void fw_history_add(struct fw_history *history, struct fw_value value)
{
	history->points[history->next] = fw_value_is_known(value) ? (float)value.number : NAN;
	history->next = (history->next + 1) % FW_HISTORY_POINTS;
	if (history->len < FW_HISTORY_POINTS)
		history->len++;
}

float fw_history_at(const struct fw_history *history, unsigned back)
{
	if (back >= history->len)
		return NAN;
	return history->points[(history->next + FW_HISTORY_POINTS - 1 - back) % FW_HISTORY_POINTS];
}

float fw_history_max(const struct fw_history *history)
{
	float most = 0;

	for (unsigned i = 0; i < history->len; i++)
		if (fw_history_at(history, i) > most)
			most = fw_history_at(history, i);
	return most;
}
