/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file tcp_listener.h
 * @brief The TCP sockets of AppStoreListen and of AppStoreVirtualIP.
 *
 * The mailbox keeps copies of them, so a connect while no store runs waits. An
 * address and port that another program has is tried again each second: the
 * store serves all others meanwhile.
 *
 * Lock:  the main thread.
 * Trust: whoever reaches the address may connect.
 */
#ifndef APPPOOL_STORE_SERVER_TCP_LISTENER_H
#define APPPOOL_STORE_SERVER_TCP_LISTENER_H

#include "store/cluster/cluster.h"
#include "store/server/store_config.h"

typedef struct {
    store_config_listen_t config; /**< `space` is empty: the virtual address */
    int fd;                       /**< -1: none */
    int64_t failed_at; /**< ms: when that was logged; 0: it has not failed */
} store_tcp_listener_t;

/** Call this once. The port for clients at the virtual address, if there is
 * one, is listened at until the end. @param on_event gets a listener that has
 * connections */
void store_tcp_listener_begin(const store_cluster_t *,
                              void (*on_event)(void *listener));

/** Is it one of the virtual address? */
int store_tcp_listener_is_vip(const store_tcp_listener_t *);

/** Close those of AppStoreListen that are not in the table. @return 1: the
 * mailbox has some that do not stay */
int store_tcp_listener_apply(const store_config_t *);

/** From the mailbox: a listener of the last store. Takes the descriptor. */
void store_tcp_listener_take(const char *name, int fd);

/** Of the mailbox: does it stay there? */
int store_tcp_listener_stays(const char *name, int fd);

/** Open those that are missing; also once a second. What fails is logged, at
 * most once a minute. */
void store_tcp_listener_open(void);

/**
 * Accept one connection. Does not wait. Small replies are sent at once.
 * @param peer gets the address of the other end
 * @return -1: EAGAIN: there is none
 */
int store_tcp_listener_accept(int fd, store_address_t *peer);

/** The end. */
void store_tcp_listener_stop(void);

#endif
