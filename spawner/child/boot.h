/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file boot.h
 * @brief What the forked child does until it has become the app.
 *
 * It waits for "go" (a byte; EOF: the spawner died, exit), then tells of its
 * steps through a pipe. The pipe's end closes when the app's command is
 * executed, and nothing else of the app's may open it: until then the child
 * is not dumpable.
 *
 * Errors: a report BOOT_FAILED, then exit.
 * Crash:  a child without "go" has done nothing and ends.
 * Trust:  all that may be slow or belongs to the app's user is done here, after
 *         all descriptors of the spawner but the child's own were closed. What
 *         the app's files decide is done without root's rights. Where AppUser
 *         does not say who runs the app, AppRoot must belong to the owner that
 *         the app table names.
 */
#ifndef APPPOOL_SPAWNER_CHILD_BOOT_H
#define APPPOOL_SPAWNER_CHILD_BOOT_H

#include "spawner/child/boot_order.h"

enum { BOOT_USER = 1, BOOT_COMMAND, BOOT_FAILED };

#define BOOT_TEXT_MAX 1024

/** Through the pipe, in one piece (it is less than PIPE_BUF). */
typedef struct {
    uint32_t kind;            /**< BOOT_* */
    uint32_t uid, gid;        /**< BOOT_USER */
    uint32_t protocol;        /**< BOOT_COMMAND: APL_HTTP ... */
    uint32_t concurrency;     /**< BOOT_COMMAND: requests at once; 0: any */
    uint32_t step;            /**< BOOT_FAILED: start_step.h */
    char text[BOOT_TEXT_MAX]; /**< user's name, command, what failed */
} boot_report_t;

_Noreturn void boot_app(const boot_t *boot);

#endif
