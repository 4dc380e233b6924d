/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file held.h
 * @brief A worker with two clients, and a slave that confirms.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_HELD_H
#define APPPOOL_TESTS_UNIT_SUPPORT_HELD_H

#include "store/server/worker.h"
#include "tests/unit/support/shelf.h"

/** The worker and its clients. */
typedef struct {
    shelf_t shelf;
    store_served_t served, gone; /**< of the same space */
    store_server_t server;
    store_worker_t worker;
    uint64_t position;
    int writer, reader; /**< two clients of the worker */
} held_t;

extern held_t scene;

/** No slave is there. */
void begin_mode(store_space_confirm_t);
void end(void);

/** One more client. @return its descriptor */
int come_to(store_served_t *);

void say(int fd, const char *words);

/** Wait for exactly this. */
void hear(int fd, const void *words, size_t n);
#define HEAR(fd, words) hear(fd, words, strlen(words))

/** It gets nothing, although the worker serves the other client. */
void is_held(int fd);

/** Wait for the end. */
void is_over(int fd);

/** This host has just become the master: another one may have a lease. */
void master_is_new(void);

void slave_joins(void);

/** All that was changed. */
void slave_confirms(void);

/** In order. */
void slave_leaves(void);

/** A counter of the space. */
uint64_t counted(unsigned what);

#endif
