/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wait_for.h
 * @brief What --wait waits for: that an app is drained, or that its new code
 *        serves.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_WAIT_FOR_H
#define APPPOOL_CTL_WAIT_FOR_H

typedef struct {
    const char *dir;    /**< of the httpd that is meant */
    const char *answer; /**< the server's, to the command */
    int raw;            /**< 1: say nothing when it is over */
    double seconds;     /**< at most; 0: as long as it takes */
} await_t;

/**
 * After drain: when is no process left?
 * @return EXIT_OK: none is; EXIT_NO: the app was put back to work, or httpd was
 *         started anew, or the time is over; EXIT_NOT_RUNNING: nobody has
 *         answered for half a minute
 */
int await_drained(const await_t *a);

/**
 * After restart or start: when does no process of before get requests any more,
 * and at least one of the new ones does, and goes on to for a second? Where
 * nothing would start a process, the server is asked to.
 * @return EXIT_OK; EXIT_NO: a process did not start, or the app was drained, or
 *         the time is over; EXIT_NOT_RUNNING
 */
int await_running(const await_t *a);

#endif
