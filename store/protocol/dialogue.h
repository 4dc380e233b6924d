/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file dialogue.h
 * @brief The protocol state of one connection: bytes in, a reply out.
 *
 * The first byte decides: 0x80 is memcached's binary protocol, 0x90 is that of
 * yrmcds' counters, which gets an error, anything else is text. A dialogue uses
 * no socket and no thread.
 *
 * Lock:  none is held by the caller. One worker at a time.
 * Trust: all bytes are hostile. No input makes it read outside of the bytes,
 *        recurse, or use more memory than one line and one value.
 */
#ifndef APPPOOL_STORE_PROTOCOL_DIALOGUE_H
#define APPPOOL_STORE_PROTOCOL_DIALOGUE_H

#include <sys/uio.h>

#include "store/protocol/settings.h"

/** @param counters of the worker, for this space
 *  @return NULL: no memory */
store_dialogue_t *store_dialogue_make(store_space_t *, store_counters_t *,
                                      const store_server_t *);
void store_dialogue_free(store_dialogue_t *);

/** The client may log in. @param is_locked it has to, before anything else */
void store_dialogue_guard(store_dialogue_t *, const store_login_t *, void *ctx,
                          int is_locked);

/** From now on the dialogue is about this space. Of a login. */
void store_dialogue_move(store_dialogue_t *, store_space_t *,
                         store_counters_t *);

/**
 * Serve complete commands.
 * @param bytes  that arrived and were not used yet
 * @param budget commands that may be served; reduced by those that were. One
 *        with many keys, or that copies a large value, counts as many
 * @return how many bytes were used. The caller keeps the rest, at most
 *         store_dialogue_line_max() bytes, and calls again with more behind it,
 *         or with the same when the budget had ended
 */
size_t store_dialogue_input(store_dialogue_t *, const char *bytes, size_t n,
                            store_reply_t *, unsigned *budget);

/** Bytes of an incomplete command at most. More than that is an error, which
 * store_dialogue_input() answers. */
size_t store_dialogue_line_max(void);

/**
 * A value is being read that has not arrived completely: the places where its
 * next bytes go. So a large value is read from the socket straight into its
 * item, and into many pieces by one call. Valid until the next call for this
 * dialogue.
 * @param iov  room for that many places
 * @param most bytes that are wanted
 * @return how many places there are; 0: nothing is being read
 */
unsigned store_dialogue_room(store_dialogue_t *, struct iovec *iov, unsigned n,
                             size_t most);

/** That many bytes were put there. The command is served by the next
 * store_dialogue_input(), which may have no bytes. */
void store_dialogue_filled(store_dialogue_t *, size_t n);

/** How many commands were served since the last call that may have changed
 * something, and were not refused? */
unsigned store_dialogue_writes(store_dialogue_t *);

/** No slave has confirmed the last command: an error is its answer.
 * @param goes_on 0: the dialogue is over then */
void store_dialogue_unconfirmed(store_dialogue_t *, store_reply_t *,
                                int goes_on);

/** Has the client sent quit, or something after which the connection has to be
 * closed? What is pending is sent before. */
int store_dialogue_is_over(const store_dialogue_t *);

#endif
