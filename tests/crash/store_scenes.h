/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_scenes.h
 * @brief What the store does with its memory, each in a space in which it has
 *        something to do.
 */
#ifndef APPPOOL_TESTS_CRASH_STORE_SCENES_H
#define APPPOOL_TESTS_CRASH_STORE_SCENES_H

#include "tests/unit/support/shelf.h"

#define STORE_SCENE_PAGES 6
#define STORE_SCENE_KEYS  130 /* "0", "1" ... */

typedef struct {
    const char *name;
    void (*prepare)(shelf_t *);
    void (*verb)(shelf_t *);
    /** Several keys change, one after the other */
    int several;
} store_scene_t;

extern const store_scene_t store_scenes[];
extern const unsigned n_store_scenes;

/** The name of a key. */
const char *store_scene_key(unsigned i);

#endif
