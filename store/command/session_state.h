/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session_state.h
 * @brief What a session remembers between two calls. For the files of the
 *        protocols only.
 *
 * Lock:  none; one worker.
 */
#ifndef APPPOOL_STORE_COMMAND_SESSION_STATE_H
#define APPPOOL_STORE_COMMAND_SESSION_STATE_H

#include "store/command/key_lock.h"
#include "store/command/settings.h"
#include "store/command/update.h"
#include "store/packet_head.h"

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
    STORE_PROTOCOL_COUNTER /**< of yrmcds: it gets an error (counter_gone.h) */
} store_protocol_t;

struct store_session {
    store_caller_t caller;
    store_locks_t locks;
    const store_server_t *server;
    store_protocol_t protocol; /**< of the connection: never META */
    store_phase_t phase;
    bool over;
    bool is_locked;             /**< before a login nothing else is served */
    bool is_begun;              /**< a command was served, and no login */
    const store_login_t *login; /**< NULL: there are no logins */
    void *login_ctx;
    bool quiet;      /**< of the present command: noreply, a quiet opcode */
    bool quiet_meta; /**< of the present set with q, which reports errors */
    size_t scanned;  /**< bytes of the incomplete line without a newline */

    unsigned writes; /**< that were done since store_session_writes() */

    /** @name work since the budget was last reduced */
    unsigned looked; /**< keys of a line that gets many */
    uint64_t copied; /**< bytes of values */

    /** @name the present line that gets many keys */
    bool get_cas, get_touch;
    uint32_t get_exptime;

    /** @name the list of keys that is being made (dump.h) */
    bool dump_keys; /**< keys only, for `keys` */
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

#endif
