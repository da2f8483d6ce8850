#ifndef FW_RECORD_SELF_PROFILE_H
#define FW_RECORD_SELF_PROFILE_H
#ifdef __cplusplus
extern "C"
#endif
	/* count launches of a kernel, a copy, a memset, and a wait; always the same calls. */
	void
	work(unsigned long count);
#endif
