/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file shelf.h
 * @brief A space of the store in a memfd of its own, without a server.
 *
 * A value is made from a seed: shelf_set() writes it, shelf_get() compares it.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_SHELF_H
#define APPPOOL_TESTS_UNIT_SUPPORT_SHELF_H

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* The order of these matters. */
#include <cmocka.h>

#include "store/memory/item.h"
#include "store/memory/space.h"

typedef struct {
    int items, figures; /* memfds */
    store_space_options_t options;
    store_space_t *space;
    int64_t offset; /* of the clock */
} shelf_t;

/** A space "shop" of that many pages. */
void shelf_open(shelf_t *, uint32_t pages, int evict);
void shelf_close(shelf_t *);

/** Forget the space, and keep the memfds. */
void shelf_close_space(shelf_t *);

/** Open the memfds of `shelf`. What was open before stays so, and is lost. */
void shelf_start(shelf_t *);

/** As after a kill: what is private is lost, and the items are recovered. */
void shelf_recover(shelf_t *);

/** That number of seconds later. */
void shelf_later(shelf_t *, int64_t seconds);

/** The value of a seed; valid until the next call by this thread. */
const char *shelf_value(uint32_t seed, uint32_t length);

/** @return the cas; 0: there was no room */
uint64_t shelf_set(shelf_t *, const char *key, uint32_t seed, uint32_t length,
                   uint32_t exptime);

/** @return 1: it is there, with this value; 0: it is not there */
int shelf_get(shelf_t *, const char *key, uint32_t seed, uint32_t length);

/** @return 1: it was there */
int shelf_delete(shelf_t *, const char *key);

/** A reference to the item. NULL: it is not there */
store_item_t *shelf_take(shelf_t *, const char *key);

/** Does the item have the value of the seed? */
int shelf_is(shelf_t *, const store_item_t *, uint32_t seed, uint32_t length);

/** No reference is held. Each living item is in the index, each chunk is
 * either used or free, and the limit is kept. @return how many items there are */
unsigned shelf_check(shelf_t *);

#endif
