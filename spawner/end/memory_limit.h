/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file memory_limit.h
 * @brief AppMemoryLimit: a process that uses more memory is replaced, as in a
 *        rolling restart. Another process starts first; then it ends after its
 *        requests.
 *
 * The limit is for a process with all of its session, so the workers of a
 * server that forks count as well. Every ten seconds, a scan adds up the
 * resident bytes of /proc/PID/stat (sid_scan.h). To read them never waits.
 * But they include shared pages, once for each process that has them. If a
 * process is above the limit by that sum, it is measured exactly: each process
 * counts only its part of shared pages (smaps_rollup). For that the kernel
 * walks through the memory of the process, and waits for a lock that a stuck
 * process may never give back. So a helper job measures (job.h), one
 * process a second.
 *
 * The memory count of a cgroup cannot be used. A cgroup that contains
 * processes, like the one of httpd, cannot pass the memory controller on.
 */
#ifndef APPPOOL_SPAWNER_END_MEMORY_LIMIT_H
#define APPPOOL_SPAWNER_END_MEMORY_LIMIT_H

#include "spawner/process/state.h"

/** A new process is not measured for this many times the time of its start. So
 * an app whose limit is too low is not started again and again all the time. */
#define MEMORY_LIMIT_REST 10

/** Check all processes. Call this once a second. */
void memory_limit_check(spawner_t *s);

#endif
