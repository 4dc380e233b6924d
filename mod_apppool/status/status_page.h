/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_page.h
 * @brief The status document (shm/view/report.h) for people.
 *
 * Trust: everything that comes from the segment is escaped.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_PAGE_H
#define MOD_APPPOOL_STATUS_STATUS_PAGE_H

#include <httpd.h>
#include <jansson.h>

/** Set what a browser may load for any of our views, and which sites may frame
 * it. */
#define APPPOOL_STATUS_POLICY                                                  \
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"

/** Write the page. @param token for its buttons; NULL: no buttons */
void apppool_status_page(request_rec *r, const json_t *doc, const char *token);

/** Write only the body of the page, for a page of another module. */
void apppool_status_body(request_rec *r, const json_t *doc, const char *token);

#endif
