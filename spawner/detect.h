/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect.h
 * @brief Find out from an app's files which command runs it: one table.
 *
 * Looks into the current directory, with the rights of the app's user.
 *
 * Trust: the files are the app's own; so is what they make run.
 */
#ifndef APPPOOL_DETECT_H
#define APPPOOL_DETECT_H

#include <stddef.h>
#include <stdint.h>

#define DETECT_MAX 1024 /* of a command */

/**
 * @param command     DETECT_MAX bytes; on failure: which files were looked for
 * @param listen      APL_LISTEN_*: where the app has to listen
 * @param concurrency requests that a process gets at once; 0: no limit
 * @return 1: found; 0: no file tells
 */
int detect_command(char *command, uint32_t listen, uint32_t concurrency);

#endif
