/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vip_relay.h
 * @brief Relays that speak TLS (store/cluster/relay.h), until they have named
 *        their space.
 *
 * Lock:  none; the main thread.
 * Trust: a host that does not know the secret is refused by the handshake.
 */
#ifndef APPPOOL_STORE_SERVER_VIP_RELAY_H
#define APPPOOL_STORE_SERVER_VIP_RELAY_H

#include "store/cluster/cluster.h"
#include "store/packet_head.h"

/** The first packet of a relay. */
#define STORE_VIP_PACKET (STORE_PACKET_HEAD + STORE_NAME)

/** @return bytes of the whole packet with this head; 0: it is none of a relay */
size_t store_vip_relay_size(const unsigned char head[STORE_PACKET_HEAD]);

/** Make the reply to a packet. @param is_known there is such a space */
void store_vip_relay_reply(const unsigned char *packet, int is_known,
                           unsigned char to[STORE_PACKET_HEAD]);

/** The name in a complete packet. */
void store_vip_relay_name(const unsigned char *packet, size_t size,
                          char name[STORE_NAME]);

/** A peer that has sent its first byte of TLS. Takes the descriptor. */
void store_vip_relay_take(const store_cluster_hooks_t *, int fd);

/** Once a second: close those that are too slow. */
void store_vip_relay_tick(int64_t now);

void store_vip_relay_end(void);

#endif
