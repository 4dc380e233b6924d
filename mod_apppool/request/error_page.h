/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_page.h
 * @brief The page for an app that did not start, or has not started yet. With
 *        AppFriendlyErrors On, it says why, for the developer. With Off, it
 *        shows only the error id. It is HTML for clients that ask for HTML, and
 *        plain text for all others.
 *
 * The spawner wrote what the page shows (spawner/report/start_failure.c): the
 * step, the command, directory and user, the last output, but not the
 * environment.
 *
 * Trust: only the error id is read from the segment, and the id in the file has
 *        to be the same. The output comes from the app, so it is escaped. The
 *        page allows only its own style, and nothing else.
 */
#ifndef MOD_APPPOOL_REQUEST_ERROR_PAGE_H
#define MOD_APPPOOL_REQUEST_ERROR_PAGE_H

#include <httpd.h>

#include "mod_apppool/config/app.h"

/** What the page is about. */
typedef struct {
    apr_uint64_t id; /**< of the error */
    int starting_ms; /**< the start has lasted that long; -1: it has failed */
} apppool_error_page_t;

/**
 * Respond with the page, unless the administrator has an ErrorDocument for this
 * status, or the request is for an ErrorDocument.
 * @return 1: the response is sent; 0: nothing was done
 */
int apppool_error_page_send(request_rec *r, const apppool_app_t *app,
                            const apppool_error_page_t *about, int status);

#endif
