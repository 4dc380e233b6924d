/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file packet.h
 * @brief The head of a request, and the responses to it (store/packet_head.h).
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_COMMAND_PACKET_H
#define APPPOOL_STORE_COMMAND_PACKET_H

#include "store/command/session_state.h"

/** Read the head of a request to session->head. What is no request ends the
 * session. @param n bytes that are there, at least 1
 * @return false: there is no head yet, or the session is over */
bool store_packet_read(store_session_t *, const char *bytes, size_t n);

/** Write the head of a response to session->head: STORE_PACKET_HEAD bytes. */
void store_packet_fill(const store_session_t *, char *head, unsigned status,
                       uint8_t extras_length, uint16_t key_length,
                       uint32_t body_length, uint64_t cas);

/** The head of the response to session->head. The body follows. */
void store_packet_head(const store_session_t *, store_reply_t *,
                       unsigned status, uint8_t extras_length,
                       uint16_t key_length, uint32_t body_length, uint64_t cas);

/** An error with memcached's words for it, or with these. */
void store_packet_error(const store_session_t *, store_reply_t *,
                        unsigned status, const char *words);

/** Success with this body, unless the command is quiet. */
void store_packet_done(const store_session_t *, store_reply_t *,
                       const char *body, uint32_t n, uint64_t cas);

#endif
