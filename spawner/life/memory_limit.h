/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file memory_limit.h
 * @brief AppMemoryLimit: who uses more is replaced, as in a rolling restart:
 *        another process first, then it ends after its requests.
 *
 * Measured is a process with all of its session, so also with the workers of
 * a server that forks. Every ten seconds, the resident bytes of /proc/PID/stat
 * are added up (session_scan.h), which waits for nobody, but counts shared
 * pages for each process that has them. Only a process that is above the limit
 * by that is measured by its part of them (smaps_rollup). For that the kernel
 * walks through the process's memory, and waits for a lock that a stuck one may
 * never give back: a child of ours does it (helper_job.h), for one of them a
 * second.
 *
 * A cgroup's own count is not to be had: the memory controller cannot be
 * handed on by a cgroup that has processes in it, as that of httpd has.
 *
 * Crash: the next spawner measures anew.
 * Trust: the kernel's word.
 */
#ifndef APPPOOL_SPAWNER_LIFE_MEMORY_LIMIT_H
#define APPPOOL_SPAWNER_LIFE_MEMORY_LIMIT_H

#include "spawner/state/state.h"

/** A new process is left alone so many times as long as it took to start: a
 * limit that is too low does not make the app start all the time. */
#define MEMORY_LIMIT_REST 10

/** Look at all processes; once a second. */
void memory_limit_check(spawner_t *s);

#endif
