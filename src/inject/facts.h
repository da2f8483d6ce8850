#ifndef FW_INJECT_FACTS_H
#define FW_INJECT_FACTS_H
/* What a file says about its process: info records, and the devices as the driver knows them. */
#include "inject/convert.h"
#include "inject/session.h"

void fw_facts_text(struct fw_convert *convert, enum fw_rec_info_key key, const char *text);
void fw_facts_value(struct fw_convert *convert, enum fw_rec_info_key key, int64_t value);

/* Host, command, rank: at the beginning of a file. */
void fw_facts_process(struct fw_convert *convert, const struct fw_inject_options *options);

/* Version of the driver, by one call of cuDriverGetVersion; 0: unknown. */
int fw_facts_driver_version(void);

/* A device record for each device that was seen and has none yet, as far as the driver tells. */
void fw_facts_devices(struct fw_convert *convert);

#endif
