/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fork_start.h
 * @brief The start of a process by a template: sends the order, reads the hello
 *        of the forked process, asks the kernel what that process is, and sends
 *        "go". doc/template.md describes the protocol.
 *
 * Errors: if anything fails, the command of the app is executed instead
 *         (FORKING_EXECUTE). The pool does not learn of it.
 * Crash:  the forked process is in the registry and in the segment before it
 *         may go. Without "go" it has run no code of the app, and exits.
 * Trust:  the template is hostile. The spawner reads only the hello, which
 *         names a process. The kernel says what that process is. It is a child
 *         of the spawner that was not reaped, so no other process has its pid.
 */
#ifndef APPPOOL_SPAWNER_START_FORK_START_H
#define APPPOOL_SPAWNER_START_FORK_START_H

#include "spawner/process/state.h"

/** Send the order. p->forking then says whether the template has it. */
void fork_start_order(spawner_t *s, process_t *p, process_t *t);

/** If there was no hello for five seconds, the command is executed. */
void fork_start_check(spawner_t *s, process_t *p);

/**
 * The command is to be executed: drop what the forked process was to get.
 * @return 0; -1: not yet, as its cgroup still has a process that was killed. If
 *         that survives for a second, the start fails, and the process is
 *         handled like one of the app that survives SIGKILL.
 */
int fork_start_clear(spawner_t *s, process_t *p);

#endif
