/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file scenes.h
 * @brief The scenes of the crash tests: each is a verb, and a pool in which the
 *        verb has something to do.
 */
#ifndef APPPOOL_TESTS_CRASH_SCENES_H
#define APPPOOL_TESTS_CRASH_SCENES_H

#include "tests/crash/stage.h"

/** One verb in one pool. */
typedef struct {
    const char *name;
    void (*prepare)(stage_t *stage);
    void (*verb)(stage_t *stage);
    /** 1: the verb has several steps, and a death may leave the pool between
     * two of them; 2: the same, and the next tick does the rest */
    int several;
} scene_t;

extern const scene_t scenes[];
extern const unsigned n_scenes;

#endif
