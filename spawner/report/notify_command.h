/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file notify_command.h
 * @brief Runs the command of AppNotify, with a text on its standard input.
 *
 * The command runs as the app's user, with no more rights and the same limits
 * as the app, and in a cgroup of its own. It gets two pipes and no other
 * descriptors. It reads the text from one pipe. What it prints into the other
 * one goes to the error log (app_log.h). Processes that the command has started
 * end with it. It is not a process of the app. But it has the mark of the
 * instance, so it also ends with the instance.
 *
 * Errors: 0, or -1 with errno. The log has a line for what fails later.
 * Crash:  a new spawner finds the command (leftovers.h, mark_scan.h) and
 *         ends it.
 * Trust:  the command may print any bytes. Some lines of it are logged.
 */
#ifndef APPPOOL_SPAWNER_REPORT_NOTIFY_COMMAND_H
#define APPPOOL_SPAWNER_REPORT_NOTIFY_COMMAND_H

#include <limits.h>

#include "spawner/process/job.h"

/** The maximum length of a text in bytes. That many bytes fit into any pipe at
 * once. So it does not matter whether and when the command reads. */
#define NOTIFY_COMMAND_MAX PIPE_BUF

/** A command that runs. Zeroed at first. */
typedef struct {
    job_t job; /**< first, so that its address is that of this structure */
    loop_source_t output;
    char app[APL_NAME_MAX];
    char label[64];     /**< of the app */
    char command[128];  /**< for messages, cut off */
    char printed[1024]; /**< the beginning of what it prints */
    size_t length;
} notify_command_t;

/** Run the command of `app`. @param text at most NOTIFY_COMMAND_MAX bytes */
int notify_command_begin(spawner_t *s, notify_command_t *c,
                         const app_entry_t *app, const char *text,
                         size_t length);

/** Does it still run? */
int notify_command_is_busy(const notify_command_t *c);

#endif
