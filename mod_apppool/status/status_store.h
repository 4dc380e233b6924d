/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_store.h
 * @brief The part of the status page about the store: a section for each space.
 *
 * Trust: everything that comes from the store is escaped.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_STORE_H
#define MOD_APPPOOL_STATUS_STATUS_STORE_H

#include <httpd.h>
#include <jansson.h>

/** Write the sections. @param store from the report; null: there are none */
void apppool_status_store(request_rec *r, const json_t *store);

#endif
