/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file tcp_served.h
 * @brief The listeners of AppStoreListen. The mailbox keeps copies of them, so
 *        a connect while no store runs waits.
 *
 * Lock:  none; the main thread.
 * Trust: as of tcp_listener.h.
 */
#ifndef APPPOOL_STORE_SERVER_TCP_SERVED_H
#define APPPOOL_STORE_SERVER_TCP_SERVED_H

#include "store/server/config.h"

typedef struct {
    store_config_listen_t config;
    int fd; /**< -1: none */
} store_tcp_served_t;

/** Call this once. @param on_event gets one that has connections */
void store_tcp_served_begin(void (*on_event)(void *listener));

/** Close those that are not in the table. @return 1: the mailbox has some that
 * do not stay */
int store_tcp_served_apply(const store_config_t *);

/** From the mailbox: a listener of the last store. Takes the descriptor. */
void store_tcp_served_take(const char *name, int fd);

/** Of the mailbox: does it stay there? */
int store_tcp_served_stays(const char *name, int fd);

/** Open those that are missing. What fails is logged. */
void store_tcp_served_open(void);

/** The end. */
void store_tcp_served_stop(void);

#endif
