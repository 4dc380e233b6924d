/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file settings.h
 * @brief What the dialogues need from the server. It does not change.
 */
#ifndef APPPOOL_STORE_PROTOCOL_SETTINGS_H
#define APPPOOL_STORE_PROTOCOL_SETTINGS_H

#include "store/protocol/reply.h"

/** The version that the store sends in both protocols. Clients look at its
 * beginning. */
#define STORE_SENT_VERSION "1.6.18-apppool-" APPPOOL_VERSION

typedef struct store_dialogue store_dialogue_t;

/** What the server does with a login. */
typedef struct {
    /** Is this the password of the space with the user's name? Then it calls
     * store_dialogue_move(). The worker calls this. */
    int (*log_in)(void *ctx, const char *user, size_t n_user,
                  const char *password, size_t n);
} store_login_t;

/** What commands need from the server. */
typedef struct {
    uint32_t max_object; /**< bytes of a value */
    unsigned threads;
    unsigned max_connections;
    /** Is a slave there that can confirm a write? NULL: there are none. */
    int (*can_confirm)(void);
} store_server_t;

#endif
