/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_origin.h
 * @brief The directives of the configuration, with their words and places, for
 *        apppoolctl show.
 */
#ifndef MOD_APPPOOL_CONFIG_CONFIG_ORIGIN_H
#define MOD_APPPOOL_CONFIG_CONFIG_ORIGIN_H

#include <apr_hash.h>
#include <httpd.h>
#include <http_config.h>

/** A directive of the configuration. */
typedef struct {
    const char *name, *words, *place;
} apppool_config_origin_t;

/** The place of a directive: "line 12 of /etc/..." */
const char *apppool_config_origin_place(const cmd_parms *cmd);

/**
 * Note a directive. The last one of a name counts; of AppSetEnv, the last one
 * for each variable.
 * @param origins of the section: apppool_config_origin_t *; made if it is NULL
 */
void apppool_config_origin_note(const cmd_parms *cmd, apr_hash_t **origins);

/**
 * Merge those of two sections, as apppool_config_dir_merge() does.
 * @param another 1: `over` has an AppRoot of its own below that of `base`, so
 *                it does not inherit what makes an app the one that it is
 */
apr_hash_t *apppool_config_origin_merge(apr_pool_t *p, apr_hash_t *base,
                                        apr_hash_t *over, int another);

#endif
