/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_page.h
 * @brief The page that the client gets for an error of this module. It says
 *        what has happened and what a visitor can do, and it has the id of the
 *        error, which is in the log, and the time. With AppFriendlyErrors On,
 *        it says why, for the developer. It is HTML for clients that ask for
 *        HTML, and plain text for all others.
 *
 * If an app does not start, the spawner wrote what the page shows
 * (spawner/report/start_failure.c): the step, the command, directory and user,
 * the last output, but not the environment.
 *
 * Trust: only the error id is read from the segment, and the id in the file has
 *        to be the same. The output comes from the app, so it is escaped. The
 *        page allows only its own style, and nothing else.
 */
#ifndef MOD_APPPOOL_REQUEST_ERROR_PAGE_H
#define MOD_APPPOOL_REQUEST_ERROR_PAGE_H

#include <httpd.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/request/error_words.h"

/** What the page is about. */
typedef struct {
    apppool_error_kind_t kind;
    apr_uint64_t id; /**< of the error */
    int starting_ms; /**< the start has lasted that long */
    const char *why; /**< a sentence, as in the log; NULL: the spawner's file
                      * says why */
} apppool_error_page_t;

/**
 * Respond with the page.
 * @param r     gets the response
 * @param first had the error. It is r itself, or r is for its ErrorDocument
 * @param app   of that request
 */
void apppool_error_page_send(request_rec *r, request_rec *first,
                             const apppool_app_t *app,
                             const apppool_error_page_t *about, int status);

/** What the page says, in two lines of text: for a page that httpd makes. */
const char *apppool_error_page_note(request_rec *r,
                                    const apppool_error_page_t *about);

#endif
