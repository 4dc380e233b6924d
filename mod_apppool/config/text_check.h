/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file text_check.h
 * @brief Is this text what it should be? For directives.c and value.c.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: takes any bytes.
 */
#ifndef MOD_APPPOOL_CONFIG_TEXT_CHECK_H
#define MOD_APPPOOL_CONFIG_TEXT_CHECK_H

#include <apr_pools.h>

/** Valid UTF-8 without control characters (it goes to JSON and to logs). */
int apppool_text_check_is_text(const char *text);

/** Bytes of the UTF-8 character at `text`, which is no control character.
 * @return 0: what stands there is none */
apr_size_t apppool_text_check_character(const char *text);

/** A number with one of httpd's units of time, or none. */
int apppool_text_check_time(const char *text);

/**
 * May an administrator set this environment variable of an app?
 * @return NULL: yes; or the sentence that says why not
 */
const char *apppool_text_check_variable(apr_pool_t *p, const char *directive,
                                        const char *name);

#endif
