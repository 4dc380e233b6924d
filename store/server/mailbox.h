/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file mailbox.h
 * @brief Keeps copies of the listeners while no store runs.
 *
 * httpd's parent has a pair of sockets. The store sends a copy of each listener
 * into one end, with the name of its space, or with its address and port. No
 * process takes the message out of the queue of the other end. The next store
 * peeks at it, which makes one more copy. So a connect while no store runs
 * waits in the backlog, and is not refused.
 *
 * Lock:  the main thread.
 * Crash: a message is there or not. mailbox_keep() sends the copy of what stays
 *        before it removes the old message, so a name may be there twice.
 * Errors: -1 and errno.
 * Trust: only stores write to it. A successor checks what it finds
 *        (store_listener.h).
 */
#ifndef APPPOOL_STORE_SERVER_MAILBOX_H
#define APPPOOL_STORE_SERVER_MAILBOX_H

#include "base/store_format.h"

/** Use this pair: what is sent to `in` is read from `out`. Its maker has given
 * `in` room for all messages, which the store may not be allowed to do. */
void store_mailbox_open(int in, int out);

/** Put a copy of the listener into it. */
int store_mailbox_put(const char *name, int fd);

/**
 * Copy all that is in it.
 * @param take gets each descriptor, which it has to close; the name ends with a
 *             NUL
 * @return how many; -1: not all could be read
 */
int store_mailbox_peek(void (*take)(void *ctx, const char *name, int fd),
                       void *ctx);

/**
 * Remove messages.
 * @param keep is called once for each message, with a copy of its descriptor,
 *             which store_mailbox_keep() closes. 1: the message stays
 */
int store_mailbox_keep(int (*keep)(void *ctx, const char *name, int fd),
                       void *ctx);

#endif
