/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wire.h
 * @brief A client of the store without a server: bytes to a dialogue, and what
 *        it replies.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_WIRE_H
#define APPPOOL_TESTS_UNIT_SUPPORT_WIRE_H

#include "store/protocol/dialogue.h"
#include "tests/unit/support/shelf.h"

typedef struct {
    shelf_t shelf;
    store_server_t server;
    store_dialogue_t *dialogue;
    store_reply_t *reply;
    int sockets[2]; /* of the dialogue, of the client */
    char *rest;     /* what the dialogue has not used */
    size_t n_rest;
    char *replies; /* all replies, with a NUL behind them */
    size_t n_replies;
} wire_t;

/** A space of that many pages, and a client. */
void wire_open(wire_t *, uint32_t pages);
void wire_close(wire_t *);

/** Another client of the same space, which has sent nothing. */
void wire_again(wire_t *);

/** One more client of the space of the first one, which must outlive it. */
void wire_join(wire_t *, const wire_t *first);
void wire_leave(wire_t *);

/** Send a request of the binary protocol, and hear its only response.
 * @param extras of n_extras bytes
 * @return the status; -1: there was no response. The body is in replies, behind
 *         STORE_PACKET_HEAD bytes */
int wire_request(wire_t *, uint8_t opcode, const void *extras, uint8_t n_extras,
                 const char *key, const char *value, uint64_t cas);

/** These bytes arrive at once. All that can be served is served, with turns of
 * that many commands. */
void wire_say(wire_t *, const void *bytes, size_t n, unsigned budget);

/** The replies to these bytes, beside those before. */
const char *wire_ask(wire_t *, const char *text);

/** The replies to these bytes are these. */
#define wire_expect(wire, text, reply)                                         \
    assert_string_equal(wire_ask(wire, text), reply)

#endif
