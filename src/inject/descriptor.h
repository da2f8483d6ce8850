#ifndef FW_INJECT_DESCRIPTOR_H
#define FW_INJECT_DESCRIPTOR_H
/* Our descriptors in a program that may close them, and open its own files on their numbers. */
#include <stdbool.h>
#include <sys/types.h>

/* Opens with O_CLOEXEC at a number above those that programs expect; -1: not possible. */
int fw_descriptor_open(const char *path, int flags);

/* Whether fd still is that file. */
bool fw_descriptor_is(int fd, dev_t device, ino_t inode);

#endif
