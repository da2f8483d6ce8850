/* Points of the space, each as likely as the next: what every other strategy must beat. */
#include "tune/strategy.h"

extern const struct fw_tune_strategy fw_tune_strategy_random;

static enum fw_tune_step next(struct fw_tune_search *search, uint64_t *key)
{
	return fw_tune_search_draw(search, key) ? FW_TUNE_ASK : FW_TUNE_END;
}

const struct fw_tune_strategy fw_tune_strategy_random = { .name = "random", .next = next };
