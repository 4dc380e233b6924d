/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status.h
 * @brief The views of the pool for an operator: SetHandler apppool-status, and
 *        a section of mod_status.
 *
 * All views show one document (shm/view/report.h): the page, `?json`, `?auto`
 * and `?metrics`.
 *
 * Lock:  none, or for a copy: see shm/view/snapshot.h.
 * Trust: everything that comes from the segment is escaped.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_H
#define MOD_APPPOOL_STATUS_STATUS_H

#include <httpd.h>

/* The hooks. */
int apppool_status_handler(request_rec *r);
int apppool_status_section(request_rec *r, int flags);

#endif
