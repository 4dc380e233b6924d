/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_origin.h
 * @brief What was said in the configuration, in its own words and with its
 *        place, for apppoolctl show.
 *
 * Lock:  none; constant once the configuration was read.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_CONFIG_ORIGIN_H
#define MOD_APPPOOL_CONFIG_CONFIG_ORIGIN_H

#include "mod_apppool/config/app.h"

/** A directive of this section. The last one of its name counts; of AppSetEnv,
 * for each variable. */
void apppool_config_origin_note(cmd_parms *cmd, apppool_dir_t *dir);

/** As apppool_config_dir_merge(). @param another 1: `over` has an AppRoot of its own,
 * below that of `base`, and so what makes an app the one that it is */
apr_hash_t *apppool_config_origin_merge(apr_pool_t *p, apr_hash_t *base,
                                        apr_hash_t *over, int another);

/** Each directive that an app may have, a line for each: its name, a tab, what
 * was said or its default, a tab, the place or nothing. */
const char *apppool_config_origin_of(apr_pool_t *p, const apppool_app_t *app);

#endif
