/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file scenes.h
 * @brief What the crash tests step through: verbs, each in pools where it has
 *        something to do.
 */
#ifndef SCENES_H
#define SCENES_H

#include "shm/checkout.h"
#include "shm/supervise.h"

#define SCENE_NOW 1000000000ll

/** A pool in shared memory, and what a verb needs to find in it. */
typedef struct {
    apl_pool_t pool;
    apl_app_t apps[3];
    apl_hold_t holds[16];
    uint64_t ids[16];
    apl_watch_t watch; /**< of the second child */
    apl_look_t look;   /**< a restart.txt that is newer */
    size_t size;
} stage_t;

/** One verb in one pool. */
typedef struct {
    const char *name;
    void (*prepare)(stage_t *stage);
    void (*verb)(stage_t *stage);
    /** 1: it does several things one after the other, and may be found
     * between them */
    int several;
} scene_t;

extern const scene_t scenes[];
extern const unsigned n_scenes;

/** An empty pool; the same memory each time. */
void stage_reset(stage_t *stage);

#endif
