/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file alive.h
 * @brief Is process N still the process we knew? A pid alone is no identity:
 *        pid and start time are.
 *
 * Lock:  must not be held: this reads /proc.
 * Crash: not concerned.
 * Trust: /proc is the kernel's word.
 */
#ifndef APPPOOL_SHM_LOCK_ALIVE_H
#define APPPOOL_SHM_LOCK_ALIVE_H

#include "shm/format/format.h"

/** What /proc/PID/stat says of a process. */
typedef struct {
    apl_who_t who;
    int32_t session;  /**< pid of who leads it */
    int64_t resident; /**< bytes, shared ones as well */
} apl_stat_t;

/** The same as apl_alive_identify(), and more. */
int apl_alive_stat(int32_t pid, apl_stat_t *stat);

/** Who is process `pid`? @return 0, or -1: there is none (or a zombie) */
int apl_alive_identify(int32_t pid, apl_who_t *who);

/** Is this very process still there (and no zombie)? */
int apl_alive(const apl_who_t *who);

/** Is process `pid` gone, or about to be: killed, but with sockets that are
 * open yet? For some instructions of the kernel, between the signal and the
 * end, it does not look so. @return 1; 0: it runs, or /proc is not for us */
int apl_alive_ending(int32_t pid);

#endif
