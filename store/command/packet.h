/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file packet.h
 * @brief The head of a packet of memcached's binary protocol.
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_COMMAND_PACKET_H
#define APPPOOL_STORE_COMMAND_PACKET_H

#include "store/command/session_state.h"

#define STORE_PACKET_HEAD     24 /**< bytes */
#define STORE_BINARY_REQUEST  0x80
#define STORE_BINARY_RESPONSE 0x81

/** Status of a response. */
enum {
    STORE_STATUS_OK = 0,
    STORE_STATUS_NOT_FOUND = 1,
    STORE_STATUS_EXISTS = 2,
    STORE_STATUS_TOO_LARGE = 3,
    STORE_STATUS_INVALID = 4,
    STORE_STATUS_NOT_STORED = 5,
    STORE_STATUS_NOT_NUMERIC = 6,
    STORE_STATUS_LOCKED = 0x10,     /**< of yrmcds */
    STORE_STATUS_NOT_LOCKED = 0x11, /**< of yrmcds */
    STORE_STATUS_AUTH = 0x20,
    STORE_STATUS_UNKNOWN = 0x81,
    STORE_STATUS_NO_MEMORY = 0x82,
    STORE_STATUS_TEMPORARY = 0x86 /**< memcached's "temporary failure" */
};

/** Of the network, at any address. */
uint16_t store_packet_u16(const char *);
uint32_t store_packet_u32(const char *);
uint64_t store_packet_u64(const char *);
void store_packet_put_u32(char *, uint32_t);
void store_packet_put_u64(char *, uint64_t);

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
