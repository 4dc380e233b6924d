/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file writes.h
 * @brief Commands that change something: each protocol says which ones are.
 *
 * With AppStoreConfirm, the reply to such a command waits for the slaves. With
 * Refuse, it is refused before it is executed while no slave is there. A lock
 * is no change, since a slave has no locks, and neither is the mark of a read.
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_COMMAND_WRITES_H
#define APPPOOL_STORE_COMMAND_WRITES_H

#include "store/command/session_state.h"

/** May this write be executed? @return false: answer store_writes_refuse() */
bool store_writes_begin(store_session_t *);

/** The error of the protocol of the connection. A quiet command has none in
 * the text protocol. */
void store_writes_refuse(const store_session_t *, store_reply_t *);

#endif
