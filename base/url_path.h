/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file url_path.h
 * @brief Writes a path as it stands in a URL: "/my shop" as "/my%20shop".
 */
#ifndef APPPOOL_BASE_URL_PATH_H
#define APPPOOL_BASE_URL_PATH_H

/**
 * Encode all bytes that a path of a URL may not contain (RFC 3986).
 * @param keep other bytes that stay as they are: "%" if the path may be encoded
 *             already, or ""
 * @param url  filled in; it has room for three times the path
 */
void url_path_encode(const char *path, const char *keep, char *url);

#endif
