/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file memory_use.h
 * @brief How much memory do processes have, with all processes that they have
 *        started?
 *
 * This is the resident memory of each process plus that of its session (its
 * workers, for example), as in /proc/PID/stat. Memory that several of them
 * share counts for each one. One pass over all processes of the system
 * measures all processes that are asked for. It takes about 10 us for each
 * process on the host, and no process can delay it.
 *
 * Lock:  must not be held: this reads /proc.
 * Trust: /proc is what the kernel says. The caller may ask for any process.
 */
#ifndef APPPOOL_SHM_VIEW_MEMORY_USE_H
#define APPPOOL_SHM_VIEW_MEMORY_USE_H

#include "shm/format/format.h"

/** A process that leads a session. */
typedef struct {
    apl_identity_t identity;
    int64_t bytes; /**< -1: there is no such process (any more) */
} apl_memory_use_t;

/** Fill in the bytes. @param of becomes sorted */
void apl_memory_use_measure(apl_memory_use_t *of, uint32_t n);

/** The bytes of the process with this pid. @return -1: not known */
int64_t apl_memory_use_of(const apl_memory_use_t *of, uint32_t n, int32_t pid);

#endif
