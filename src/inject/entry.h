#ifndef FW_INJECT_ENTRY_H
#define FW_INJECT_ENTRY_H
/* The two symbols that the library shows: all others are hidden. */

#define FW_EXPORT __attribute__((visibility("default")))

/* cuInit calls it; returns 1. */
FW_EXPORT int InitializeInjection(void);

/* NVTX's headers call it; returns 1 when its functions were set. */
FW_EXPORT int InitializeInjectionNvtx2(void *get_export_table);

#endif
