/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file start_parts.h
 * @brief What a new process gets: its listening socket, its output, its notify
 *        socket, the pipe for its reports, and the pipe through which it gets
 *        "go". They are the same whether it is executed or forked by a
 *        template.
 *
 * Errors: the part that could not be made, with errno.
 * Crash:  the next spawner removes the files of a process without a record.
 */
#ifndef APPPOOL_SPAWNER_START_START_PARTS_H
#define APPPOOL_SPAWNER_START_START_PARTS_H

#include "spawner/process/state.h"

/** Descriptors for the new process, or -1. All are closed on exec. */
typedef struct {
    int listener; /**< of a template: its end of the socket of its orders */
    int output;
    int go[2];
    int report[2];
} start_parts_t;

/**
 * Make all parts. The loop watches the ends of the spawner, except two: that of
 * "go", which is x->go[1], and that of the orders of a template.
 * @param on_report is called for the pipe of the reports
 * @return NULL; or what could not be made
 */
const char *start_parts_make(spawner_t *s, process_t *p, start_parts_t *x,
                             loop_ready_t *on_report);

/** Close those that are open. */
void start_parts_close(start_parts_t *x);

/** The process does not get the parts after all: drop the ends of the
 * spawner. */
void start_parts_drop(process_t *p);

#endif
