/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file alive.h
 * @brief Is process N still the process that we knew? A pid alone does not
 *        identify a process; pid and start time do.
 *
 * Lock:  must not be held: this reads /proc.
 * Trust: /proc is what the kernel says.
 */
#ifndef APPPOOL_SHM_LOCK_ALIVE_H
#define APPPOOL_SHM_LOCK_ALIVE_H

#include "shm/format/format.h"

/** What /proc/PID/stat says about a process. */
typedef struct {
    apl_identity_t identity;
    int32_t session;  /**< pid of its leader */
    int64_t resident; /**< bytes, shared ones as well */
} apl_stat_t;

/** As apl_alive_identify(), with more fields. */
int apl_alive_stat(int32_t pid, apl_stat_t *stat);

/** Which process has this pid? @return 0; -1: none, or a dead one that was not
 * reaped yet */
int apl_alive_identify(int32_t pid, apl_identity_t *identity);

/** Does exactly this process still run? A dead one that was not reaped yet does
 * not. */
int apl_alive(const apl_identity_t *identity);

/**
 * Is the process gone, or was it killed, so that it will be gone soon? Its
 * sockets may still be open. For some instructions between the signal and the
 * end of a process, the kernel does not show that it was killed. @return 1; 0:
 * it runs, or we may not read /proc
 */
int apl_alive_ending(int32_t pid);

#endif
