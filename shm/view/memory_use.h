/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file memory_use.h
 * @brief How much memory do processes have, with all that they have started?
 *
 * That is the resident memory of each with that of its session, workers say,
 * as /proc/PID/stat has it. What several of them share is counted for each.
 * One look at all processes of the system does it for all that are asked for:
 * some 10 us for each that runs there, and nobody is waited for.
 *
 * Lock:  must not be held: this reads /proc.
 * Crash: not concerned.
 * Trust: /proc is the kernel's word; who is asked for may be anybody.
 */
#ifndef APPPOOL_SHM_VIEW_MEMORY_USE_H
#define APPPOOL_SHM_VIEW_MEMORY_USE_H

#include "shm/format/format.h"

/** A process that leads a session. */
typedef struct {
    apl_who_t who;
    int64_t bytes; /**< -1: there is no such process (any more) */
} apl_memory_use_t;

/** Fill in the bytes. @param of is sorted on the way */
void apl_memory_use_measure(apl_memory_use_t *of, uint32_t n);

/** Bytes of the one with this pid. @return -1: not known */
int64_t apl_memory_use_of(const apl_memory_use_t *of, uint32_t n, int32_t pid);

#endif
