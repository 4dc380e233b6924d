/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file crash_point.h
 * @brief Marks a crash point: the moment after a store that other processes
 *        can see.
 *
 *     p->state = APL_PROCESS_LIVE;
 *     APL_CRASH_POINT("ready_live"); // seen: it is live; no list knows it yet
 *
 * A process that is killed leaves a prefix of its instruction stream behind.
 * So the order of the stores in the binary has to be right. The macro is a
 * compiler barrier, which keeps that order, and a local symbol
 * `apl_crash_point_<label>`, at which a debugger can stop the process and kill
 * it.
 *
 * Lock:  none.
 * Crash: this is where it happens.
 * Trust: not concerned.
 */
#ifndef APPPOOL_SHM_FORMAT_CRASH_POINT_H
#define APPPOOL_SHM_FORMAT_CRASH_POINT_H

#include "shm/format/needs.h"

/* `%=` numbers the copies that inlining makes. */
#define APL_CRASH_POINT(label)                                                 \
    __asm__ volatile("apl_crash_point_" label ".%=:" ::: "memory")

#endif
