/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file relay_packet.h
 * @brief The packet with which a relay begins, at the port `memcache`: the name
 *        of a space (packet_head.h). A slave makes it (relay_master.h), and the
 *        master replies (vip_clients.h).
 *
 * Trust: the packet may be anybody's.
 */
#ifndef APPPOOL_STORE_CLUSTER_RELAY_PACKET_H
#define APPPOOL_STORE_CLUSTER_RELAY_PACKET_H

#include <stddef.h>

#include "base/store_format.h"
#include "store/packet_head.h"

/** Maximum bytes of a packet. */
#define STORE_RELAY_PACKET (STORE_PACKET_HEAD + STORE_NAME)

/** Make the packet of this name. @return its bytes */
size_t store_relay_packet_put(const char *name,
                              unsigned char to[STORE_RELAY_PACKET]);

/** @return bytes of the whole packet with this head; 0: it is none of a
 * relay */
size_t store_relay_packet_size(const unsigned char head[STORE_PACKET_HEAD]);

/** The name in a complete packet. */
void store_relay_packet_name(const unsigned char *packet, size_t size,
                             char name[STORE_NAME]);

/** Make the reply to a packet. @param is_known there is such a space */
void store_relay_packet_reply(const unsigned char *packet, int is_known,
                              unsigned char to[STORE_PACKET_HEAD]);

#endif
