/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_filter.h
 * @brief An output filter that sees the beginning, the parts and the end of the
 *        response to a request.
 *
 * If the process was killed, the response may look complete. The filter then
 * passes on an error instead of the end, so that the client notices.
 *
 * Lock:  in the functions of app_request.h.
 * Trust: the response may be any bytes; response_buffer.h, sendfile.h and
 *        response_check.h say how it is treated.
 */
#ifndef MOD_APPPOOL_REQUEST_RESPONSE_FILTER_H
#define MOD_APPPOOL_REQUEST_RESPONSE_FILTER_H

#include "mod_apppool/request/app_request.h"

/** Call it once, before the hooks of any configuration run. */
void apppool_response_filter_register(void);

/** Add the filter to the request; remove it. */
void apppool_response_filter_add(apppool_app_request_t *req);
void apppool_response_filter_remove(apppool_app_request_t *req);

/** The app has sent everything: pass the end on, if mod_proxy has not. */
void apppool_response_filter_finish(apppool_app_request_t *req);

#endif
