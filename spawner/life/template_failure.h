/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file template_failure.h
 * @brief A template could not be loaded: what becomes of the starts that wait
 *        for it, and is another one loaded later?
 *
 *  * It said by its exit code that the code of the app does not load. Or it said
 *    LOADING=1, and then ended by a signal of its own or by another exit code.
 *    To execute the command would fail a second time. So its failure is that of the starts
 *    that wait: a request gets the error page after one start, as without a
 *    template. The next start executes the command, in case that this loads.
 *    The start after that one loads a template again, unless a process serves
 *    by then that was executed: then the template was wrong.
 *  * It failed before its command was run. The same command is executed. The
 *    next start tries to load a template again.
 *  * In all other cases it may be a program that cannot be a template. The
 *    command is executed, and none is loaded any more for this code and this
 *    configuration.
 *
 * Crash:  the next spawner knows nothing of it (template_note.h).
 * Trust:  the exit code and LOADING=1 come from the app.
 */
#ifndef APPPOOL_SPAWNER_LIFE_TEMPLATE_FAILURE_H
#define APPPOOL_SPAWNER_LIFE_TEMPLATE_FAILURE_H

#include "spawner/state/state.h"

enum {
    TEMPLATE_FAILURE_AGAIN,  /**< execute; the next start loads another one */
    TEMPLATE_FAILURE_BROKEN, /**< the starts fail; the next one executes */
    TEMPLATE_FAILURE_REFUSED /**< execute, from now on */
};

/**
 * What follows from the failure of a template?
 * @param step     START_STEP_* that failed
 * @param code     its exit code; FORK_ORDER_BROKEN also if it ended otherwise
 *                 while it loaded code of the app; -1: it did not exit
 * @param executed 1: a process serves that was executed since the last BROKEN
 *                 of this code
 * @return TEMPLATE_FAILURE_*
 */
int template_failure_means(int step, int code, int executed);

/** The start of this template has failed. */
void template_failure_note(spawner_t *s, process_t *t);

#endif
