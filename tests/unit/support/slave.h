/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slave.h
 * @brief A master with two spaces, and slaves of it that note what they get.
 *
 * The spaces are "shop", which is the open one, and "blog". A slave connects to
 * the master from an address in 127.0.0.0/8: those at 127.0.0.1 and 127.0.0.2
 * have to know the secret, those at 127.0.0.3 and 127.0.0.4 are plain peers. It
 * speaks the dialect of this store, or the one of yrmcds.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_SLAVE_H
#define APPPOOL_TESTS_UNIT_SUPPORT_SLAVE_H

#include "store/cluster/cluster.h"
#include "store/cluster/stream.h"
#include "store/cluster/wire.h"
#include "tests/unit/support/shelf.h"

#define SLAVE_WAIT 40000 /* ms: longer than any machine needs */

/* ---- the master ---- */

extern shelf_t shelf; /* "shop" */
extern store_space_t *blog;
extern store_cluster_t config; /* may be changed after master_open() */

extern unsigned master_shortages; /* how often there was no descriptor */

/** 0, as in the beginning: who has to know the secret is taken as if it did,
 * without a handshake. */
extern int master_has_tls;

/** For each test. */
int master_open(void **state);
int master_close(void **state);

/** The configuration loses "blog", or gets it back with its items. */
void master_lose_blog(void);
void master_get_blog(void);

/** Take the slaves that have connected. */
void master_pump(void);

/** Wait until a line of the log has these words. Called by the main thread of
 * the test, which ticks the master meanwhile. */
void master_wait_log(const char *words);

/** Wait until the slave with these figures is gone. */
void master_wait_gone(unsigned slot);

/* ---- a slave ---- */

typedef struct {
    char space[STORE_NAME];
    char key[STORE_KEY_MAX + 1];
    store_packet_t p; /* of its set; exptime, on the store's clock, also of a
                         touch */
    char *value;
} slave_item_t;

typedef struct {
    store_stream_t *stream;
    int fd;
    slave_item_t *items;
    unsigned n, room;
    char space[STORE_NAME]; /* that was named last; "" with yrmcds */
    unsigned packets[256];  /* by opcode */
    store_packet_t last[256];
    uint64_t bytes;
    char bytes_left[2 << 20]; /* that were read, and are no whole packet */
    size_t n_left;
} slave_t;

/** A socket from this address that the master may accept. */
int slave_socket(const char *from);

/** Connect, and say nothing. */
slave_t *slave_connect(const char *from);

/** Connect and say this, however slow the machine is. */
slave_t *slave_begin(const char *from, const void *, size_t);

/** And begin as one of ours, or as a yrmcds. The master has taken it then. */
slave_t *slave_join(const char *from, int ours);

void slave_close(slave_t *);

void slave_say(slave_t *, const void *, size_t);

/** Read until there were that many packets of this kind.
 * @return 0: the connection was closed before */
int slave_read(slave_t *, uint8_t opcode, unsigned packets);

/** Read until everything that has been changed now is there. */
void slave_catch_up(slave_t *);

/** Read until the master closes the connection. */
void slave_read_to_end(slave_t *);

/** NULL: it has no such item. */
slave_item_t *slave_find(slave_t *, const char *space, const char *key);

/** It has what is in the space, and nothing else of it. A yrmcds has no names
 * of spaces. */
void slave_is_same(slave_t *, store_space_t *);

#endif
