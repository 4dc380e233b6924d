/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file reply.h
 * @brief What a connection has to send: gathered, and sent by one call.
 *
 * Parts are copied bytes, which the reply owns, or values of items, which are
 * not copied: the reply holds a reference to the item until its bytes are sent.
 * There is no third kind.
 *
 * Lock:  one worker.
 * Errors: without memory, store_reply_failed() is true and the connection has
 *        to be closed. Nothing else is added then.
 */
#ifndef APPPOOL_STORE_PROTOCOL_REPLY_H
#define APPPOOL_STORE_PROTOCOL_REPLY_H

#include <stddef.h>
#include <sys/uio.h>

#include "store/memory/item.h"

/** Bytes that are copied to one place in memory. Then the next place begins. */
#define STORE_REPLY_BLOCK 13800

typedef struct store_reply store_reply_t;

/** @return NULL: no memory */
store_reply_t *store_reply_make(void);

/** Drop all that is not sent, and the references. */
void store_reply_free(store_reply_t *);

/** Copy these bytes. */
void store_reply_copy(store_reply_t *, const void *bytes, size_t n);

/** The whole value. Takes a reference of its own. */
void store_reply_value(store_reply_t *, store_space_t *, store_item_t *);

/** printf, at most 512 bytes. */
void store_reply_format(store_reply_t *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Bytes that wait to be sent. */
size_t store_reply_pending(const store_reply_t *);
/** Does so much wait that nothing more is to be added? That is 1 MiB, or
 * 74 KB of memory, because a value that is not short stays in its item. */
int store_reply_is_full(const store_reply_t *);
int store_reply_failed(const store_reply_t *);

/** Takes what it can of these bytes, and waits for nobody.
 * @return bytes; -1: errno; EAGAIN: nothing now */
typedef ssize_t store_reply_writer_t(void *to, struct iovec *, unsigned n);

/**
 * Send as much as the client takes, and a bounded part of a long reply: others
 * wait for this thread.
 * @param sent bytes
 * @return 0: all is sent. EAGAIN: the rest when the client takes more.
 *         EINPROGRESS: the rest in the next turn. Else errno: close it
 */
int store_reply_send(store_reply_t *reply, store_reply_writer_t *write,
                     void *to, size_t *sent);

#endif
