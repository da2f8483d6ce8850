#ifndef FW_DOCTOR_QUOTA_H
#define FW_DOCTOR_QUOTA_H
#include "doctor/host.h"

struct fw_quota {
	bool is_known;             /* the control group was found */
	double cores;              /* the least of all levels; 0: no quota */
	uint64_t periods, stopped; /* of the group with the quota: all, and in which it ran dry */
};

struct fw_quota fw_quota_find(struct fw_host *host);

#endif
