/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file dialogue_state.h
 * @brief What a dialogue remembers between two calls, and what all protocols do
 *        with it: answers, writes, and the value that is being read. For the
 *        files of the protocols only.
 *
 * Lock:  one worker. store_value_begin() may evict.
 */
#ifndef APPPOOL_STORE_PROTOCOL_DIALOGUE_STATE_H
#define APPPOOL_STORE_PROTOCOL_DIALOGUE_STATE_H

#include "store/packet_head.h"
#include "store/protocol/settings.h"
#include "store/protocol/verbs.h"

/** Bytes of a line; of a line that gets many keys. Without the newline. */
#define STORE_LINE       2048
#define STORE_GET_LINE   65536

/** Keys of a line that are looked up at once. Then the budget is reduced. */
#define STORE_GET_SLICE  256

/** Bytes of the opaque word of a meta command, its O included. */
#define STORE_OPAQUE_MAX 32

/** What the next bytes are. */
typedef enum {
    STORE_PHASE_COMMAND, /**< a line, or a binary header */
    STORE_PHASE_GET,     /**< the other keys of a line that gets many */
    STORE_PHASE_VALUE,   /**< a value, and in text its CR LF */
    STORE_PHASE_SWALLOW, /**< a value that is dropped */
    STORE_PHASE_DUMP     /**< a list of keys is not complete */
} store_phase_t;

/** The protocol of a connection, or of the value that is being read. */
typedef enum {
    STORE_PROTOCOL_NONE, /**< no byte has arrived */
    STORE_PROTOCOL_TEXT,
    STORE_PROTOCOL_META,
    STORE_PROTOCOL_BINARY,
    STORE_PROTOCOL_COUNTER /**< of yrmcds: it gets an error */
} store_protocol_t;

struct store_dialogue {
    store_caller_t caller;
    store_locks_t locks;
    const store_server_t *server;
    store_protocol_t protocol; /**< of the connection: never META */
    store_phase_t phase;
    int over;
    int is_locked;              /**< before a login nothing else is served */
    int is_begun;               /**< a command was served, and no login */
    const store_login_t *login; /**< NULL: there are no logins */
    void *login_ctx;
    int quiet;      /**< of the present command: noreply, a quiet opcode */
    int quiet_meta; /**< of the present set with q, which reports errors */
    size_t scanned; /**< bytes of the incomplete line without a newline */

    unsigned writes; /**< that were done since store_dialogue_writes() */

    /** @name work since the budget was last reduced */
    unsigned looked; /**< keys of a line that gets many */
    uint64_t copied; /**< bytes of values */

    /** @name the present line that gets many keys */
    int get_cas, get_touch;
    uint32_t get_exptime;

    /** @name the list of keys that is being made (dump.c) */
    int dump_keys; /**< keys only, for `keys` */
    uint8_t n_prefix;
    char *prefix; /**< NULL: none; malloc */
    uint32_t dump_cursor;

    /** @name the value that is being read */
    store_protocol_t asked;
    store_item_t *item;
    uint32_t filled; /**< bytes of it */
    store_place_t place;
    char tail[2]; /**< what must be CR LF */
    uint8_t n_tail;
    uint64_t swallow; /**< bytes that are left to be swallowed */
    store_update_t update;
    store_packet_head_t head; /**< of the binary request */
    char flags[STORE_OPAQUE_MAX +
               8]; /**< what a meta set is to return: O, k, c */
    uint8_t n_flags;
};

/* ---- answers: a line of text, with CR LF ---- */

/** The line, unless the command is quiet. */
void store_answer(const store_dialogue_t *, store_reply_t *, const char *line);

/** The line in any case: an error, which a quiet command reports as well. */
void store_answer_error(store_reply_t *, const char *line);

/* ---- packets of the binary protocol ---- */

/** Read the head of a request to dialogue->head. What is no request ends the
 * dialogue. @param n bytes that are there, at least 1
 * @return 0: there is no head yet, or the dialogue is over */
int store_packet_read(store_dialogue_t *, const char *bytes, size_t n);

/** Write the head of a response to dialogue->head: STORE_PACKET_HEAD bytes. */
void store_packet_fill(const store_dialogue_t *, char *head, unsigned status,
                       uint8_t extras_length, uint16_t key_length,
                       uint32_t body_length, uint64_t cas);

/** The head of the response to dialogue->head. The body follows. */
void store_packet_head(const store_dialogue_t *, store_reply_t *,
                       unsigned status, uint8_t extras_length,
                       uint16_t key_length, uint32_t body_length, uint64_t cas);

/** An error with memcached's words for it, or with these. */
void store_packet_error(const store_dialogue_t *, store_reply_t *,
                        unsigned status, const char *words);

/** Success with this body, unless the command is quiet. */
void store_packet_done(const store_dialogue_t *, store_reply_t *,
                       const char *body, uint32_t n, uint64_t cas);

/* ---- yrmcds' counters, which the store has not ----
 *
 *     request:  0x90 | opcode | flags 0  | 0 | length 4 | opaque 4 | body
 *     response: 0x91 | opcode | status   | 0 | length 4 | opaque 4 | body
 */

#define STORE_COUNTER_MAGIC 0x90

/** Answer the first request with an error that says so, and end the dialogue.
 * @return bytes that were used; 0: its head is not complete */
size_t store_counter_gone(store_dialogue_t *, const char *bytes, size_t n,
                          store_reply_t *);

/* ---- writes: each protocol says which commands change something ----
 *
 * With AppStoreConfirm, the reply to such a command waits for the slaves.
 * With Refuse, it is refused before it is executed while no slave is there.
 * A lock is no change, since a slave has no locks, and neither is the mark
 * of a read. */

/** May this write be executed? @return 0: answer store_writes_refuse() */
int store_writes_begin(store_dialogue_t *);

/** The error of the protocol of the connection. A quiet command has none in
 * the text protocol. */
void store_writes_refuse(const store_dialogue_t *, store_reply_t *);

/* ---- the value of a command that stores, which goes into its item ---- */

/** Why there is no item for a value. */
typedef enum {
    STORE_VALUE_BEGUN,
    STORE_VALUE_TOO_LARGE,
    STORE_VALUE_TOO_MANY, /**< large ones are being sent */
    STORE_VALUE_NO_MEMORY
} store_value_t;

/**
 * Make the item. If that fails, the bytes of the value are dropped when they
 * arrive, and the failure is counted.
 * @param asked  the protocol: CR LF follows a text or meta value
 * @param update as it is to be stored later
 */
store_value_t store_value_begin(store_dialogue_t *, store_protocol_t asked,
                                const void *key, uint8_t klen, uint32_t flags,
                                uint32_t exptime, uint64_t length,
                                const store_update_t *update);

/** What a client of the text protocol is told. */
const char *store_value_why(store_value_t);

/** The next n bytes are not looked at. */
void store_value_swallow(store_dialogue_t *, uint64_t n);

/** Use bytes of what has arrived. @return how many */
size_t store_value_input(store_dialogue_t *, const char *bytes, size_t n);

/** Has the value, and in text what follows it, arrived? */
int store_value_is_complete(const store_dialogue_t *);

/** In text: was it followed by CR LF? */
int store_value_is_sound(const store_dialogue_t *);

/** Give the item back. The next bytes are a command. */
void store_value_end(store_dialogue_t *);

#endif
