/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_auto.h
 * @brief The status document (shm/view/report.h) as lines "Name: value".
 *
 * Lock:  none.
 * Crash: nothing is held.
 * Trust: names come from the module itself.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_AUTO_H
#define MOD_APPPOOL_STATUS_STATUS_AUTO_H

#include <httpd.h>
#include <jansson.h>

/** `?auto`: "AppPoolMax: 6". */
void apppool_status_auto(request_rec *r, const json_t *doc);

#endif
