/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_group.h
 * @brief The part of the status page about one application: its facts, its
 *        processes, its requests.
 *
 * Lock:  none.
 * Crash: nothing is held.
 * Trust: everything that comes from the segment is escaped.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_GROUP_H
#define MOD_APPPOOL_STATUS_STATUS_GROUP_H

#include <httpd.h>
#include <jansson.h>

/**
 * Write the section of an application.
 * @param n     its number on the page
 * @param token for its buttons; NULL: no buttons
 */
void apppool_status_group(request_rec *r, const json_t *group, int n,
                          const char *token);

#endif
