#ifndef FW_BASE_BANNED_H
#define FW_BASE_BANNED_H
/*
 * Included before every C file by the build: functions that cannot be used safely, or that give an
 * unusable error, do not compile. The headers that declare them come first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets
#pragma GCC poison atoi atol atoll atof localtime gmtime ctime asctime mktemp tmpnam system

#endif
