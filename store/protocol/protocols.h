/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file protocols.h
 * @brief What a dialogue has served by the file of its protocol.
 */
#ifndef APPPOOL_STORE_PROTOCOL_PROTOCOLS_H
#define APPPOOL_STORE_PROTOCOL_PROTOCOLS_H

#include "store/protocol/dialogue_state.h"
#include "store/protocol/token.h"

/* text.c: memcached's text protocol, without the meta commands. */

/**
 * Serve a line, or begin to.
 * @param n without the end of the line
 * @return bytes of it that were used, if the phase is STORE_PHASE_GET now; else
 *         it is used completely
 */
size_t store_text_line(store_dialogue_t *, const char *line, size_t n,
                       store_reply_t *);

/** Go on with a line that gets many keys. @return bytes that were used */
size_t store_text_get_more(store_dialogue_t *, const char *line, size_t n,
                           store_reply_t *);

/** The value of a command that stores has arrived. */
void store_text_stored(store_dialogue_t *, store_reply_t *);

/* meta.c: the meta commands: mg ms md ma mn me. */

/** A line whose first word has two letters, the first one an m. */
void store_meta_line(store_dialogue_t *, const store_tokens_t *,
                     store_reply_t *);

/** The value of ms has arrived. */
void store_meta_stored(store_dialogue_t *, store_reply_t *);

/* binary.c: requests of memcached's binary protocol. */

/**
 * Serve a request, or begin to.
 * @return bytes that were used; 0: its head, extras and key are not complete
 */
size_t store_binary_input(store_dialogue_t *, const char *bytes, size_t n,
                          store_reply_t *);

/** The value has arrived. */
void store_binary_stored(store_dialogue_t *, store_reply_t *);

/* login.c: a client says which space it is for, and shows that it may: SASL
 * PLAIN in the binary protocol, or memcached's text login, a `set` of "USER
 * PASSWORD" as first command. The user is the name of the space.
 *
 * Trust: before the login nothing else is served, and nothing is stored. */

/** Are the next bytes for store_login_input()? The protocol is known. */
int store_login_is_next(const store_dialogue_t *, const char *bytes, size_t n);

/** @return bytes that were used; 0: more are needed, or the dialogue is over */
size_t store_login_input(store_dialogue_t *, const char *bytes, size_t n,
                         store_reply_t *);

/* dump.c: all keys of a space: `lru_crawler metadump all` and `keys`, also of
 * the binary protocol.
 *
 * In text, `keys` leaves out keys with a line end. A metadump has them: it
 * writes each key with %XX.
 *
 * The buckets are looked at in slices. An item that is there during the whole
 * dump is in it once.
 *
 * Lock:  one bucket at a time. A line is copied under it, and no memory is
 *        allocated there. */

/** @return 0: the line is another command */
int store_dump_begin(store_dialogue_t *, const store_tokens_t *);

/** Begin a list of keys. @param prefix n = 0: all keys */
void store_dump_keys(store_dialogue_t *, store_token_t prefix);

/** The next slice. After the last one, the phase is STORE_PHASE_COMMAND. */
void store_dump_slice(store_dialogue_t *, store_reply_t *);

/* stats.c: `stats` of the text and of the binary protocol.
 *
 * The names are those of memcached where it has the same thing. Ours follow.
 * The counters are the sums of all workers, of this space only.
 *
 * Lock:  that of the chunks, for `items` and `slabs`. */

/** The command `stats` with its words. */
void store_stats_text(store_dialogue_t *, const store_tokens_t *,
                      store_reply_t *);

/** @param key which statistics; n = 0: the general ones
 *  @return 0: there are none of this name, and nothing was answered */
int store_stats_binary(store_dialogue_t *, store_token_t key, store_reply_t *);

/** The counters of a space, summed over all workers: since the last reset. */
void store_stats_sum(const store_space_t *, store_counters_t *);

void store_stats_reset(const store_space_t *);

/** The space is forgotten, and has no connections. So the space that gets its
 * slot begins with zeros. */
void store_stats_forget(const store_space_t *);

#endif
