/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file boot.h
 * @brief What the forked child does until it has become the app.
 *
 * The child waits for the byte "go"; at EOF the spawner has died, and the child
 * exits. Then it reports its steps through a pipe. Its end of the pipe closes
 * when the command of the app is executed. No other process of the app's user
 * can open the pipe before, because the child is not dumpable.
 *
 * Errors: a report BOOT_FAILED, then exit.
 * Crash:  a child that got no "go" has done nothing, and ends.
 * Trust:  the child does everything that may be slow, or that concerns files of
 *         the app's user, after it has closed all descriptors of the spawner
 *         except its own. It does not have root's rights when it does what the
 *         app's files say. If AppUser does not name the user, AppRoot must
 *         belong to the owner that the app table names.
 */
#ifndef APPPOOL_SPAWNER_START_BOOT_H
#define APPPOOL_SPAWNER_START_BOOT_H

#include "spawner/process/environment.h"

enum { BOOT_USER = 1, BOOT_COMMAND, BOOT_FAILED };

#define BOOT_TEXT_MAX 1024

/** A report. It passes the pipe in one piece (it is less than PIPE_BUF). */
typedef struct {
    uint32_t kind;            /**< BOOT_* */
    uint32_t uid, gid;        /**< BOOT_USER */
    uint32_t protocol;        /**< BOOT_COMMAND: APL_HTTP ... */
    uint32_t concurrency;     /**< BOOT_COMMAND: requests at once; 0: any */
    uint32_t step;            /**< BOOT_FAILED: state.h */
    uint64_t stamp;           /**< BOOT_COMMAND: of restart.txt */
    char text[BOOT_TEXT_MAX]; /**< name of the user, command, or what failed */
} boot_report_t;

_Noreturn void boot_app(const boot_t *boot);

#endif
