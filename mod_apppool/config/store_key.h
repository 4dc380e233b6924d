/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_key.h
 * @brief AppStoreKey: the file of the secret that the stores of all hosts
 *        share.
 *
 * Trust: the file is root's, and nobody else can read it. The secret is never
 *        kept, because children of httpd inherit the parent's memory: it is
 *        read where it is used, and overwritten.
 */
#ifndef MOD_APPPOOL_CONFIG_STORE_KEY_H
#define MOD_APPPOOL_CONFIG_STORE_KEY_H

#include "mod_apppool/config/config.h"

#define APPPOOL_STORE_SECRET_MIN 32 /* bytes */
#define APPPOOL_STORE_SECRET_MAX 256

const char *apppool_store_key_set(cmd_parms *cmd, void *dir, const char *arg);

/**
 * Read the secret. The caller overwrites it after its use.
 * @return its bytes; 0: there is no AppStoreKey; -1: `why` says what is wrong
 */
int apppool_store_key_read(const apppool_server_t *server,
                           unsigned char to[APPPOOL_STORE_SECRET_MAX],
                           apr_pool_t *p, const char **why);

/** The password with which a TCP client logs in to the space. @return NULL:
 * there is no AppStoreKey, or it cannot be read now */
const char *apppool_store_key_password(const char *space, apr_pool_t *p,
                                       const server_rec *main_server);

#endif
