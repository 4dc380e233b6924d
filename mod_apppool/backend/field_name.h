/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file field_name.h
 * @brief Look for the name of a header field in a list, quickly: each request
 *        and each response does it for all its fields.
 *
 * Trust: the name may be of any bytes.
 */
#ifndef MOD_APPPOOL_BACKEND_FIELD_NAME_H
#define MOD_APPPOOL_BACKEND_FIELD_NAME_H

#include <stddef.h>

/** @param n how many names the list has @return 1: the name is one of them, in
 * any letter case */
int apppool_field_name_is_among(const char *name, const char *const *names,
                                size_t n);

#endif
