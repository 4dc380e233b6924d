/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_action.h
 * @brief The buttons of the status page: detach a process, end a request
 *        together with its process, restart an application, or end its drain.
 *
 * They only do what any child of httpd can do to the segment. They need no
 * further rights, and they send nothing to root's processes (SECURITY).
 *
 * Lock:  the pool lock, in verbs of supervise.h, timeouts.h and admin.h.
 * Crash: a verb is done completely or not at all.
 * Trust: the form may contain any bytes. The names in it are looked up in a
 *        snapshot.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_ACTION_H
#define MOD_APPPOOL_STATUS_STATUS_ACTION_H

#include <httpd.h>

/**
 * Serve a POST to the page: do what its form says.
 * @param allowed AppStatusAllowActions
 * @return HTTP_SEE_OTHER: done; OK: a response was sent, with 403: not allowed,
 *         or not our form; 412: the process or app does not exist any more;
 *         503: try again; or an error
 */
int apppool_status_action(request_rec *r, int allowed);

/**
 * A button: a form that sends an action.
 * @param token from apppool_status_token()
 * @param ask   the question that the user has to confirm; NULL: none
 */
const char *apppool_status_button(request_rec *r, const char *token,
                                  const char *label, const char *action,
                                  const char *name, const char *ask);

#endif
