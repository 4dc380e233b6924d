/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file text_check.h
 * @brief Is a text valid? For directives.c and value.c.
 *
 * Trust: takes any bytes.
 */
#ifndef MOD_APPPOOL_CONFIG_TEXT_CHECK_H
#define MOD_APPPOOL_CONFIG_TEXT_CHECK_H

#include <apr_pools.h>

/** Is it valid UTF-8 without control characters? It goes to JSON and to
 * logs. */
int apppool_text_check_is_text(const char *text);

/** Is it a number, with or without one of httpd's units of time? */
int apppool_text_check_time(const char *text);

/**
 * May an administrator set this environment variable of an app?
 * @return NULL: yes; or the sentence that says why not
 */
const char *apppool_text_check_variable(apr_pool_t *p, const char *directive,
                                        const char *name);

#endif
