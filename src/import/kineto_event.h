#ifndef FW_IMPORT_KINETO_EVENT_H
#define FW_IMPORT_KINETO_EVENT_H
/* One event of a Chrome trace: JSON text -> its fields. Nothing is kept and nothing is allocated. */
#include "import/lex.h"

enum fw_event_category {
	FW_CAT_NONE,    /* the event names none */
	FW_CAT_UNKNOWN, /* not one that Kineto writes */
	FW_CAT_KERNEL,
	FW_CAT_MEMCPY,
	FW_CAT_MEMSET,
	FW_CAT_CALL,
	FW_CAT_OPERATOR,
	FW_CAT_PYTHON,
	FW_CAT_ANNOTATION,
	FW_CAT_OVERHEAD,
	FW_CAT_SYNC,
	FW_CAT_INSTANT,
	FW_CAT_IGNORED /* Kineto's, but of no use here: annotations on the GPU, spans of the profiler */
};

enum fw_event_number { FW_NUMBER_ABSENT, FW_NUMBER_OK, FW_NUMBER_BAD };

enum fw_event_arg {
#define FW_ARG(constant, name, how) FW_ARG_##constant,
#include "import/kineto_args.def"
#undef FW_ARG
	FW_ARG_COUNT
};

struct fw_event {
	char phase; /* 0: absent or longer than one letter */
	uint8_t category, ts_state, dur_state;
	bool has_name;
	int64_t ts_ns, dur_ns; /* valid if their state is FW_NUMBER_OK */
	struct fw_lex_text name, pid, tid;
	uint32_t known; /* bit 1 << enum fw_event_arg */
	int64_t arg[FW_ARG_COUNT];
	struct fw_lex_text text[FW_ARG_COUNT]; /* of the TEXT ones */
	double counter;                        /* phase C: the first number among the arguments */
	bool has_counter;
};

/* The object that the cursor stands at. On success the cursor is behind it; else see lex->state. */
void fw_event_read(struct fw_lex *lex, struct fw_event *event);

/* True if the object at p starts with a key that events have: where reading goes on after damage. */
bool fw_event_starts(const char *p, const char *end);

static inline bool fw_event_has(const struct fw_event *event, enum fw_event_arg arg)
{
	return event->known >> arg & 1;
}

#endif
