/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_filter.h
 * @brief The answer of a visit, as it passes on its way to the client: an
 *        output filter sees it begin and end.
 *
 * An end that is none, as its process was killed, is turned into an error for
 * the filters below, so that the client can tell.
 *
 * Lock:  that of the visit's verbs.
 * Crash: not concerned.
 * Trust: the answer is the app's word; response_buffer.h, sendfile.h and
 *        response_check.h say what is made of it.
 */
#ifndef MOD_APPPOOL_REQUEST_RESPONSE_FILTER_H
#define MOD_APPPOOL_REQUEST_RESPONSE_FILTER_H

#include "mod_apppool/request/session.h"

/** Once, before any configuration's hooks run. */
void apppool_response_filter_register(void);

/** See the answer from now on; and no more. */
void apppool_response_filter_add(apppool_session_t *s);
void apppool_response_filter_remove(apppool_session_t *s);

/** The app has said all: so has the answer. mod_proxy_fcgi passes the end on
 * only if the app sends a record for it, and php-cgi does not. */
void apppool_response_filter_finish(apppool_session_t *s);

#endif
