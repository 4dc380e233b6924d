/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file relay_scene.h
 * @brief A relay with local clients, and a master at the loopback address that
 *        the test plays.
 *
 * Each call that waits fails after 40 s, and the group of tests ends after five
 * minutes. Descriptors block, and are the caller's.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_RELAY_SCENE_H
#define APPPOOL_TESTS_UNIT_SUPPORT_RELAY_SCENE_H

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
/* The order of these matters. */
#include <cmocka.h>

#include "store/cluster/relay.h"

#define SCENE_NAME (24 + STORE_NAME) /* bytes: a name is not longer */

/** The relay runs, with the spaces "shop", which is the open one, and "blog".
 * For a group of tests. */
int scene_begin(void **state);
int scene_end(void **state);

/** Begin again after a promotion. */
void scene_relay_again(void);

/** @name what is configured, and what the follower says
 * @{ */
void scene_limit(const char *space, uint64_t connections);
void scene_is_yrmcds(int yes);
void scene_is_unknown(int yes);     /**< nothing has come from the master */
void scene_key(const char *key);    /**< "": none */
void scene_plain_peers(unsigned n); /**< then is_unknown() or key() */
void scene_is_lost(int yes);        /**< nobody may use "shop" */
/** @} */

/** A new client of the space. */
int scene_client(const char *space);

/** @name the master
 * @{ */
int scene_listener(void);
int scene_accept(void);
int scene_accept_named(const char *space); /**< and has answered the name */
int scene_accept_with(const char *bytes);  /**< that sends these at first */
size_t scene_put_name(char to[SCENE_NAME], const char *space);
void scene_expect_name(int master, const char *space);
void scene_answer_name(int master, unsigned status);
void scene_master_leaves(void);  /**< its port is closed */
void scene_master_returns(void); /**< it is open again */
/** One that speaks TLS and sends back what it gets, in a thread. */
void scene_echo_begin(const char *key, const char *space);
void scene_echo_end(void);
/** @} */

/** @name bytes
 * @{ */
void scene_send(int fd, const char *bytes, size_t n);
void scene_read(int fd, char *to, size_t n);
void scene_expect(int fd, const char *bytes, size_t n);
void scene_expect_end(int fd);         /**< and no byte before it */
void scene_expect_end_or_name(int fd); /**< at most a name before it */
size_t scene_fill(int fd); /**< send until nobody takes more; how many */
void scene_drain(int fd, size_t n);    /**< read what fill() has sent */
void scene_exchange(int fd, size_t n); /**< send and read that many */
/** @} */

/** Until so many are relayed or wait. With none, the connections that the master
 * has not accepted are forgotten. */
void scene_wait_count(unsigned n);

/** How many clients a promotion has handed over, since the last call of
 * scene_served_with(). */
unsigned scene_served(void);

/** How many of them have sent one of these. They are closed. */
int scene_served_with(const char *one, const char *other);

/** @name the relay's clock, which goes on by 1 s in 10 s
 * @{ */
int64_t scene_ms(void);
void scene_later(int64_t ms);
/** Until the relay has closed it, which it must do within 10 s of that clock, or
 * 40 s of the host later. */
void scene_later_until_end(int fd);
/** @} */

#endif
