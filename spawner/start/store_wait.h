/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_wait.h
 * @brief An app does not begin before the store has made its socket: many
 *        clients take a socket that is not there for a server that is dead.
 *
 * Store and spawner are started at the same time, and do not wait for each
 * other. So the child that becomes the app waits, and delays nobody else.
 *
 * Trust: the directory belongs to the store's user. Nothing there is opened.
 */
#ifndef APPPOOL_SPAWNER_START_STORE_WAIT_H
#define APPPOOL_SPAWNER_START_STORE_WAIT_H

#include "spawner/process/app_table.h"

/**
 * Wait until clients can connect to the app's space, but at most five seconds,
 * or half of AppStartTimeout. Without a store, and for an app that cannot reach
 * the directory, return at once.
 */
void store_wait(const app_entry_t *app);

#endif
