/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_page.h
 * @brief The app did not start. With AppFriendlyErrors On: why, for the one
 *        who writes it; Off: the number of the error. HTML for clients that
 *        ask for it, plain text for all others.
 *
 * What is told was written by the spawner (spawner/alert/start_failure.h): the
 * step, the command, directory and user, the last output. Not the environment.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: of the segment only the number of the error is taken, and the file's
 *        has to be the same. Output is the app's: it is escaped, and the page
 *        forbids all but its own style.
 */
#ifndef MOD_APPPOOL_REQUEST_ERROR_PAGE_H
#define MOD_APPPOOL_REQUEST_ERROR_PAGE_H

#include <httpd.h>

#include "mod_apppool/config/app.h"

/**
 * Answer with the page; but not where the administrator has an ErrorDocument
 * for this status, or where the request is for one.
 * @return 1: the answer is given; 0: nothing was done
 */
int apppool_error_page_send(request_rec *r, const apppool_app_t *app,
                            const apl_session_ref_t *hold, int status);

#endif
