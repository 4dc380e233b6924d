/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file tcp_served.h
 * @brief The listeners of AppStoreListen and of AppStoreVirtualIP.
 *
 * The mailbox keeps copies of them, so a connect while no store runs waits. An
 * address and port that another program has is tried again each second: the
 * store serves all others meanwhile.
 *
 * Lock:  none; the main thread.
 * Trust: as of tcp_listener.h.
 */
#ifndef APPPOOL_STORE_SERVER_TCP_SERVED_H
#define APPPOOL_STORE_SERVER_TCP_SERVED_H

#include "store/server/store_config.h"

typedef struct {
    store_config_listen_t config; /**< `space` is empty: the virtual address */
    int fd;                       /**< -1: none */
    int64_t failed_at; /**< ms: when that was logged; 0: it has not failed */
} store_tcp_served_t;

/** Call this once. The port for clients at the virtual address, if there is one,
 * is listened at until the end. @param on_event gets a listener that has
 * connections */
void store_tcp_served_begin(const store_cluster_t *,
                            void (*on_event)(void *listener));

/** Is it one of the virtual address? */
int store_tcp_served_is_vip(const store_tcp_served_t *);

/** Close those of AppStoreListen that are not in the table. @return 1: the
 * mailbox has some that do not stay */
int store_tcp_served_apply(const store_config_t *);

/** From the mailbox: a listener of the last store. Takes the descriptor. */
void store_tcp_served_take(const char *name, int fd);

/** Of the mailbox: does it stay there? */
int store_tcp_served_stays(const char *name, int fd);

/** Open those that are missing; also once a second. What fails is logged, at
 * most once a minute. */
void store_tcp_served_open(void);

/** The end. */
void store_tcp_served_stop(void);

#endif
