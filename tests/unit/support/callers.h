/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file callers.h
 * @brief Callers that ask the pool for processes. All callers are in this
 *        process, or they are spread over four other processes. Each of these
 *        is a child of httpd.
 *
 * A caller is a number, and has one request at a time. In another process, a
 * request waits in apl_checkout_wait(), in a thread of its own, and sends a
 * message when its wait is over. In this process, apl_checkout_poll() reads the
 * state of a request.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_CALLERS_H
#define APPPOOL_TESTS_UNIT_SUPPORT_CALLERS_H

#include "tests/unit/support/scene.h"

#define CALLERS 12

typedef struct callers callers_t;

/** @param forked 0: they are all here */
callers_t *callers_begin(scene_t *s, int forked);
void callers_end(callers_t *c);

/**
 * Ask for a process.
 * @param dir look for restart.txt there first; NULL: do not look
 */
apr_status_t callers_ask(callers_t *c, int caller, const apl_app_t *app,
                         const char *dir);

/** The state of the caller's request. @return as apl_checkout_poll() */
apr_status_t callers_poll(callers_t *c, int caller);

void callers_close(callers_t *c, int caller);
void callers_refused(callers_t *c, int caller);

/** The session of the caller. */
const apl_session_ref_t *callers_hold(const callers_t *c, int caller);

#endif
