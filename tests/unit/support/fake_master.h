/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fake_master.h
 * @brief A slave with one space, and what its master sends: packets, by hand.
 *
 * The space is "shop" with 64 pages. It is the open one, because there is no
 * secret. Lines of the log are kept.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_FAKE_MASTER_H
#define APPPOOL_TESTS_UNIT_SUPPORT_FAKE_MASTER_H

#include "store/cluster/apply.h"
#include "store/cluster/wire.h"
#include "tests/unit/support/shelf.h"

#define FAKE_HOUR 3600 /* s */

extern shelf_t fake_shelf;
extern store_cluster_t fake_config;
extern const store_cluster_hooks_t fake_hooks;

/** The generation of its spaces; atomic. */
extern unsigned fake_generation;

/** How often the main thread's heartbeat was made; atomic. */
extern unsigned fake_beats;

/** Called at each of them; NULL: nothing. */
extern void (*fake_on_beat)(void);

/** What the master sends. */
typedef struct {
    char bytes[4 << 20];
    size_t n;
    int is_yrmcds; /**< it tells the time of day */
} fake_wire_t;

extern fake_wire_t fake_wire;

/** Of each test. */
int fake_setup(void **state);
int fake_teardown(void **state);

/** @name Append a packet to fake_wire. `lives` is s from now; 0: for ever
 * @{ */
void fake_put(store_packet_t, const char *key, const char *value);
void fake_put_hello(const char *list);
void fake_put_space(const char *name, uint64_t cas);
void fake_put_flush(const char *name, int64_t delay);
void fake_put_set(const char *key, uint32_t seed, uint32_t length,
                  int64_t lives, uint64_t cas);
void fake_put_delete(const char *key);
void fake_put_touch(const char *key, int64_t lives);
void fake_put_other(uint8_t opcode, uint64_t number);
/** @} */

/** Have it applied in pieces of that many bytes, as the follower does.
 * @return what store_apply_input() has returned last */
ssize_t fake_feed(store_apply_t *, size_t piece);

/** The wire begins again, with hello and space. */
void fake_put_begin(void);

/** Be the master of fake_config. @return the listener */
int fake_listen(void);

/** A slave connects and says hello. @return the connection */
int fake_accept(int listener);

/** Wait for bytes or for a connection. */
void fake_await(int fd);

/** A whole copy and some changes, and what a slave has of them then. */
void fake_put_copy(void);
void fake_expect_copy(void);

#endif
