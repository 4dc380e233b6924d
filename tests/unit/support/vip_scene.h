/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vip_scene.h
 * @brief A listener of the virtual address, and peers of it. The test is the
 *        peer, the main thread and the worker.
 *
 * What waits turns the loop of the main thread meanwhile, and fails the test
 * after VIP_PATIENCE. The role, the login and accept4() are the scene's
 * (--wrap).
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_VIP_SCENE_H
#define APPPOOL_TESTS_UNIT_SUPPORT_VIP_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
/* Its own order matters. */
#include <cmocka.h>

#include "store/cluster/role.h"
#include "store/cluster/stream.h"

#define VIP_PATIENCE 40000 /* ms: longer than any machine needs */
#define VIP_SERVED   20

extern store_cluster_t vip_config;       /* there is a secret */
extern store_space_t vip_shop, vip_open; /* "shop", "open" */
extern store_role_t vip_role;
extern store_stream_t *vip_served[VIP_SERVED]; /* that a worker has */
extern int vip_n_served;
extern const store_space_t *vip_served_space; /* of the last one */
extern int vip_n_locked;                      /* clients that have to log in */
extern int vip_shortage;                      /* errno of accept4(); 0: none */
extern int vip_tries;                         /* calls of accept4() */
extern const unsigned char vip_secret[STORE_SECRET_MIN];

int vip_setup(void **state);
int vip_teardown(void **state);

/** One turn of the loop. @param until ms; the test fails afterwards */
void vip_turn(int64_t until);

/** Connect from this address. */
int vip_connect(const char *from);

/** Wait until the socket has ended. @return bytes that came before */
size_t vip_read_to_end(int fd);

/** Wait until a worker has so many. */
void vip_wait_served(int n);

/** A peer that speaks TLS with this secret. */
store_stream_t *vip_call(const unsigned char *secret);

/** @return 0, or -1: it was refused */
int vip_shake_hands(store_stream_t *);

void vip_say(store_stream_t *, const void *from, size_t n);

/** @return bytes; less than n at the end */
size_t vip_hear(store_stream_t *, void *to, size_t n);

/** The first packet of a relay. @return bytes of it */
size_t vip_packet(const char *space, unsigned char to[64]);

/** A relay of "shop" that a worker has. */
store_stream_t *vip_join(void);

#endif
