/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file notify_command.h
 * @brief Runs the command of AppNotify, with a text on its standard input.
 *
 * It runs as the app's user, with no more rights than the app has, the same
 * limits, a cgroup of its own and no descriptors but a pipe of the text and
 * one of what it prints, which goes to the error log (app_log.h). What it has
 * started ends with it. It is none of the app's processes, but bears the mark
 * of the instance, so that it ends with that, too.
 *
 * Errors: 0, or -1 with errno. What fails later is a line of the log.
 * Crash:  the command is ended when a new spawner finds it: stray_cgroups.h,
 *         mark_scan.h.
 * Trust:  what it prints may be any bytes; some lines of it are logged.
 */
#ifndef APPPOOL_SPAWNER_ALERT_NOTIFY_COMMAND_H
#define APPPOOL_SPAWNER_ALERT_NOTIFY_COMMAND_H

#include <limits.h>

#include "spawner/state/helper_job.h"

/** Bytes of a text, at the most: as many as fit into any pipe at once, so it
 * does not matter whether and when the command reads. */
#define NOTIFY_COMMAND_MAX PIPE_BUF

/** A command that runs. Zeroed at first. */
typedef struct {
    helper_job_t job; /**< first: it is how this is found */
    loop_source_t output;
    char app[APL_NAME_MAX];
    char label[64];     /**< of the app */
    char command[128];  /**< for messages, cut off */
    char printed[1024]; /**< the beginning of what it prints */
    size_t length;
} notify_command_t;

/** Run the command of `app`. @param text of NOTIFY_COMMAND_MAX bytes at the
 * most */
int notify_command_begin(spawner_t *s, notify_command_t *c,
                         const app_entry_t *app, const char *text,
                         size_t length);

/** Does it run yet? */
int notify_command_is_busy(const notify_command_t *c);

#endif
