/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file login.h
 * @brief A client says which space it is for, and shows that it may: SASL PLAIN
 *        in the binary protocol, or memcached's text login, a `set` of
 *        "USER PASSWORD" as first command. The user is the name of the space.
 *
 * Trust: before the login nothing else is served, and nothing is stored.
 */
#ifndef APPPOOL_STORE_PROTOCOL_LOGIN_H
#define APPPOOL_STORE_PROTOCOL_LOGIN_H

#include "store/protocol/dialogue_state.h"

/** Are the next bytes for store_login_input()? The protocol is known. */
int store_login_is_next(const store_dialogue_t *, const char *bytes, size_t n);

/** @return bytes that were used; 0: more are needed, or the dialogue is over */
size_t store_login_input(store_dialogue_t *, const char *bytes, size_t n,
                         store_reply_t *);

#endif
