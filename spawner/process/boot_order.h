/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file boot_order.h
 * @brief What the forked child has to start, and the descriptors that it
 *        gets.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_BOOT_ORDER_H
#define APPPOOL_SPAWNER_PROCESS_BOOT_ORDER_H

#include "spawner/process/process_files.h"
#include "spawner/process/app_table.h"

typedef struct {
    const app_entry_t *app;
    const runtime_dir_t *rt;
    const char *instance;
    const char *helpers; /**< directory of the language helpers, or NULL */
    uint64_t id;
    int is_template; /**< of the app: this process does not serve */
    uint32_t port;
    struct rlimit descriptors; /**< RLIMIT_NOFILE that the app gets */
    int listener;              /**< -1: the app binds its socket itself; of a
                                    template: the socket of its orders */
    int output;                /**< the FIFO, open to write */
    int go;                    /**< read end */
    int report;                /**< write end */
} boot_t;

#endif
