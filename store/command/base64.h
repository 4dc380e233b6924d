/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file base64.h
 * @brief Base64 of RFC 4648, for binary keys in the meta commands.
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_COMMAND_BASE64_H
#define APPPOOL_STORE_COMMAND_BASE64_H

#include <stddef.h>

/** The bytes that n bytes become. */
#define STORE_BASE64_LENGTH(n) (((n) + 2) / 3 * 4)

/** @param to STORE_BASE64_LENGTH(n) bytes @return how many were written */
size_t store_base64_encode(const void *from, size_t n, char *to);

/**
 * Bytes that are no base64 digits are passed over, as memcached does it.
 * @param to at least n bytes
 * @return how many were written; 0: it is no base64
 */
size_t store_base64_decode(const char *from, size_t n, char *to);

#endif
