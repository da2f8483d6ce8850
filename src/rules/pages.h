#ifndef FW_RULES_PAGES_H
#define FW_RULES_PAGES_H

/* The pages docs/rules/<id>.md as the build found them (scripts/embed_pages.cmake); ends with a NULL id. */
struct fw_page {
	const char *id, *text;
};

extern const struct fw_page fw_pages[];

#endif
