/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file template.h
 * @brief A template: a process of an app that loads the code, serves nothing,
 *        and is forked for each process of the app (AppPreload). This file
 *        decides which template an order gets, and when a template ends.
 *
 * A template belongs to one code and one configuration. The first order that
 * needs it loads it, and orders wait meanwhile. template_failure.c has the rule
 * for one that fails. A template ends in four cases: its code or its
 * configuration has changed; its app has no use for it; it has forked nothing
 * for AppPreloadIdleTime, and its app has fewer than two processes; or the
 * spawner ends.
 *
 * A process that it has forked may still print where the template printed: a
 * logger that was made while the code was loaded has a copy of descriptor 1, or
 * has opened /dev/stdout. The helpers for Ruby and Python give a new process
 * its own output in place of such descriptors (doc/template.md). Another
 * template may not do that. Without a reader, the process would fail in
 * write(), or wait there for ever. So the FIFO of a template is read until its
 * last writer is gone, and its lines have the name of the template. It is not
 * read any longer than a process lives that the template has forked. So an app
 * has no more such FIFOs than processes, even if it has passed the descriptor
 * on to a process that is not its own.
 *
 * Crash:  the socket of its orders is closed when the spawner ends. A template
 *         then exits. The next spawner ends a template that has not exited
 *         (adopt.c). The record of a template that has ended says that only its
 *         output is left, and the next spawner reads on.
 * Trust:  a template is the app. It may do anything, and it learns nothing that
 *         the app may not know.
 */
#ifndef APPPOOL_SPAWNER_TEMPLATE_TEMPLATE_H
#define APPPOOL_SPAWNER_TEMPLATE_TEMPLATE_H

#include "spawner/process/state.h"

enum {
    TEMPLATE_EXECUTE, /**< no template: execute the command */
    TEMPLATE_LOAD,    /**< load a template */
    TEMPLATE_WAIT,    /**< it is being loaded */
    TEMPLATE_FORK     /**< it is ready */
};

/** What is known of an app and its template when a process is to start. */
typedef struct {
    int wanted;           /**< the app may have one now */
    uint64_t code, print; /**< what a template has to be made from */
    int exists;           /**< there is a template that does not end */
    int ready;
    uint64_t its_code, its_print;
} template_case_t;

/** @return TEMPLATE_* */
int template_choose(const template_case_t *known);

/**
 * How is a process of this app started now?
 * @param t set to the template, with TEMPLATE_FORK
 * @return TEMPLATE_*
 */
int template_for(spawner_t *s, const app_entry_t *a, process_t **t);

/** Make a template, which is to be launched like a process.
 * @return NULL: there is no memory or no record */
process_t *template_new(spawner_t *s, const app_entry_t *a);

/** The template was launched, or could not be launched. */
void template_has_begun(spawner_t *s, process_t *t);

/** The template with this id, if it is ready. @return NULL: there is none */
process_t *template_find(const spawner_t *s, uint64_t id);

/** It has forked a process. */
void template_has_forked(spawner_t *s, process_t *t);

/** The template got an order, but there was no hello. If that was the last
 * failure of a row, it is killed. */
void template_has_missed(spawner_t *s, process_t *t);

/** Its hello was not true: kill it.
 * @param what the rest of a sentence about process `pid`; 0: there is no pid */
void template_has_lied(spawner_t *s, process_t *t, pid_t pid, const char *what);

/** Nothing of this process runs any more: is it a template whose output is
 * still read? Then its record says so. @return 0: no, its FIFO can be closed */
int template_keeps_output(spawner_t *s, process_t *p);

/** Note which templates are ready, have failed or have died. End those that
 * have to end. */
void template_tick(spawner_t *s);

#endif
