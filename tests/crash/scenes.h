/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file scenes.h
 * @brief What the crash tests step through: verbs, each in pools where it has
 *        something to do.
 */
#ifndef APPPOOL_TESTS_CRASH_SCENES_H
#define APPPOOL_TESTS_CRASH_SCENES_H

#include "tests/crash/stage.h"

/** One verb in one pool. */
typedef struct {
    const char *name;
    void (*prepare)(stage_t *stage);
    void (*verb)(stage_t *stage);
    /** 1: it does several things one after the other, and may be found
     * between them; 2: which the next tick finishes */
    int several;
} scene_t;

extern const scene_t scenes[];
extern const unsigned n_scenes;

#endif
