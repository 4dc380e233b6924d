/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file warning.h
 * @brief Warnings about applications. If the same sentence is true for several
 *        of them, it is printed once, with the first of them and the number of
 *        the others: a setting of the main server may be the setting of
 *        thousands of virtual hosts.
 */
#ifndef MOD_APPPOOL_CONFIG_WARNING_H
#define MOD_APPPOOL_CONFIG_WARNING_H

#include "mod_apppool/config/app.h"

/** Begin to collect the warnings of a configuration. */
void apppool_warning_begin(apr_pool_t *p);

/** Add a warning about an app: a sentence that does not name the app. */
void apppool_warning(const apppool_app_t *app, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Add a warning that names its app, like those of other apps with this key.
 * The first `most` of them are printed, the last of these with the number of
 * the others. */
void apppool_warning_alike(const char *key, int most, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Print them, in the order in which they were added first. */
void apppool_warning_end(void);

#endif
