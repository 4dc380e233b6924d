/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wait_for.h
 * @brief Option --wait: wait until an app is drained, or until its new code
 *        serves requests.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_WAIT_FOR_H
#define APPPOOL_CTL_WAIT_FOR_H

typedef struct {
    const char *dir;      /**< runtime directory of the httpd */
    const char *response; /**< the server's response to the command */
    int raw;              /**< 1: print nothing at the end */
    double seconds;       /**< at most; 0: no limit */
} await_t;

/**
 * After drain: wait until no process is left.
 * @return EXIT_OK: none is left; EXIT_NO: the app was put back into service, or
 *         httpd was started again, or the time is over; EXIT_NOT_RUNNING:
 *         there was no response for half a minute
 */
int await_drained(const await_t *a);

/**
 * After restart or start: wait until no old process gets requests any more, and
 * at least one new process has got them for a second. If nothing else would
 * start a process, ask the server to start one.
 * @return EXIT_OK; EXIT_NO: a process did not start, or the app was drained,
 *         or the time is over; EXIT_NOT_RUNNING
 */
int await_running(const await_t *a);

#endif
