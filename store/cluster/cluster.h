/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file cluster.h
 * @brief What is configured about other hosts, and what the cluster needs from
 *        the server.
 *
 * A store without AppStoreVirtualIP is alone. Otherwise the host that has the
 * address is the master, and the others are its slaves.
 *
 * Lock:  constant after the start.
 * Trust: the configuration is root's. The key is secret: it is never logged,
 *        and never in a figure. An address proves nothing: each user of a host
 *        connects from the addresses of the host. So a connection without TLS
 *        has the open space only, whoever made it.
 */
#ifndef APPPOOL_STORE_CLUSTER_CLUSTER_H
#define APPPOOL_STORE_CLUSTER_CLUSTER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "store/memory/extent.h"

struct store_stream;

#define STORE_ADDRESS_TEXT 64 /* bytes of "[ADDRESS]:PORT", NUL included */
#define STORE_PEERS        32
#define STORE_SLAVES       5 /* at once; the next one is closed */
#define STORE_SECRET_MIN   32
#define STORE_SECRET_MAX   256

/** An IPv4 or IPv6 address, without a port. */
typedef struct {
    sa_family_t family; /**< AF_UNSPEC: none */
    union {
        struct in_addr v4;
        struct in6_addr v6;
    } u;
} store_address_t;

typedef struct {
    store_address_t vip;               /**< AF_UNSPEC: this store is alone */
    uint16_t port_memcache, port_repl; /**< at the VIP */
    unsigned n_peers, n_plain;
    store_address_t peer[STORE_PEERS];  /**< may connect for replication and
                                           relay */
    store_address_t plain[STORE_PEERS]; /**< may do so without TLS: they get
                                           the open space only */
    unsigned n_secret;                  /**< 0: no AppStoreKey */
    unsigned char secret[STORE_SECRET_MAX];
    char open_space[STORE_NAME]; /**< AppStoreOpenSpace; "": none */
    uint64_t changes;            /**< bytes (AppStoreChanges) */
    unsigned slave_timeout;      /**< s (AppStoreSlaveTimeout) */
} store_cluster_t;

/** What the cluster needs from the server. All are called by the main thread,
 * except those that say otherwise. */
typedef struct {
    const store_cluster_t *config;
    /** The space of this name that is served now; NULL: there is none. Any
     * thread. Spaces are not closed while there is a cluster. */
    store_space_t *(*find)(const char *name);
    /** The spaces that are served, and those that were, by number; NULL: no
     * more. A space keeps its number. Any thread. */
    store_space_t *(*nth)(unsigned n);
    /** Another number each time after a space has come, or has come back. Any
     * thread. */
    unsigned (*generation)(void);
    /** Have `on_event` called by the main thread when the descriptor is
     * readable. @return 0, or -1: errno */
    int (*watch)(int fd, void (*on_event)(void *ctx), void *ctx);
    void (*unwatch)(int fd);
    /** accept() at this listener has failed; errno says why. Without
     * descriptors the listener rests for a moment. */
    void (*shortage)(int listener);
    /** Close all connections of clients at once. */
    void (*close_clients)(void);
    /** May this client of the space stay? Any thread. */
    int (*admits)(store_space_t *, int fd);
    /** A client of this space, which was relayed or held, is served here from
     * now on. It takes the stream. */
    void (*serve)(store_space_t *, struct store_stream *);
    /** Serve no commands (1), or serve again (0). The call returns when no
     * worker is in a turn. */
    void (*pause)(int on);
} store_cluster_hooks_t;

/** The spaces that are served now. Any thread. @return how many */
unsigned store_cluster_spaces(const store_cluster_hooks_t *,
                              store_space_t *to[STORE_SPACES]);

/** Is this the open space, which another host may have without TLS? */
int store_cluster_is_open(const store_cluster_t *, const char *space);

/** A TCP connection to another host, or of a TCP client: no delay.
 * @param lost ms: it ends when the other host has not acknowledged anything for
 *             so long, also if nothing is sent; 0: it does not */
void store_cluster_set_options(int fd, unsigned lost);
#define STORE_LOST 10000

/** Begin to connect. The socket is writable when that has ended. @param lost as
 * of store_cluster_set_options() @return the socket, which is non-blocking; -1:
 * errno */
int store_cluster_connect(const store_address_t *, uint16_t port,
                          unsigned lost);

/** It has ended. @return 0: it is connected; -1: errno */
int store_cluster_connected(int fd);

/** "10.0.0.9" or "fe80::1" to an address. @return 0, or -1: it is none */
int store_address_parse(const char *text, store_address_t *);

/** The address of a socket's other end. An IPv4 address in IPv6 becomes IPv4.
 */
void store_address_of(const struct sockaddr *, store_address_t *);

int store_address_equal(const store_address_t *, const store_address_t *);

int store_address_is_in(const store_address_t *list, unsigned n,
                        const store_address_t *);

/** As text, without a port. @return `to` */
const char *store_address_text(const store_address_t *,
                               char to[STORE_ADDRESS_TEXT]);

/** For bind() and connect(). @return bytes of it */
socklen_t store_address_socket(const store_address_t *, uint16_t port,
                               struct sockaddr_storage *);

#endif
