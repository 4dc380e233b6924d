/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file startup.h
 * @brief From a process of root with the descriptors of contract.h to one that
 *        has the rights of the store's user, and what it needs of root's.
 *
 * Errors: 0, or the exit code of the program. That was logged.
 * Trust: the arguments and descriptors are the watchdog's.
 */
#ifndef APPPOOL_STORE_SERVER_STARTUP_H
#define APPPOOL_STORE_SERVER_STARTUP_H

#include "base/contract.h"
#include "store/server/store_config.h"
#include "store/server/save.h"

typedef struct {
    char sockets[CONTRACT_RUNTIME_MAX + 8]; /**< CONTRACT_STORES, absolute */
    int socketsfd;                          /**< the same, open */
    store_save_files_t save;                /**< for the items at a stop */
    int signals;                            /**< SIGTERM is read from it */
} store_startup_t;

/** Check arguments and descriptors. @return 0, or an exit code */
int store_startup_check(int argc, char **argv);

/**
 * Open what only root can open, and become the owner of CONTRACT_STORES.
 * @param config gets the configuration, which the caller frees
 */
int store_startup(store_startup_t *, const char *runtime,
                  store_config_t **config);

/** 0: httpd has removed the table, because the store of another build takes
 * over. 1: it is there, or its directory is gone: then httpd is dead. */
int store_startup_has_table(const store_startup_t *);

/** Read the configuration. @return NULL: that was logged */
store_config_t *store_startup_config(const store_startup_t *);

#endif
