/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file raw_path.h
 * @brief The path of a URL as the client has encoded it.
 *
 * httpd decodes r->uri. To encode it again may change its meaning: `%2F` is a
 * slash within a name, and `;` may separate parameters where `%3B` does not. So
 * the path is kept before it is decoded, and goes to the app in this form,
 * unless r->uri was rewritten. The path is canonical by then, as httpd's access
 * control sees it: no `.` and `..`, one slash for several (unless MergeSlashes
 * is Off), no encoded letters.
 *
 * Trust: bytes that a URL must not have are encoded.
 */
#ifndef MOD_APPPOOL_REQUEST_RAW_PATH_H
#define MOD_APPPOOL_REQUEST_RAW_PATH_H

#include <httpd.h>

/* The hooks: before the path is decoded, and before it is rewritten. */
int apppool_raw_path_pre_translate(request_rec *r);
int apppool_raw_path_translate(request_rec *r);

/**
 * The path below base_uri, encoded.
 * @return NULL: use r->uri
 */
const char *apppool_raw_path_below(request_rec *r, const char *base_uri);

#endif
