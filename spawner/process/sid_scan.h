/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sid_scan.h
 * @brief Finds the running processes in the sessions of apps. One scan of all
 *        processes of the system does everything that was asked for: it finds
 *        them, sends them signals, and adds up what they use.
 *
 * A helper job scans (job.h), as a scan takes about 20 us for each
 * process of the system. One job scans at a time. What is asked for meanwhile
 * is for the next job. No file that the job reads makes it wait. If a process
 * has a cgroup, only its cgroup is scanned.
 *
 * Without a cgroup, all processes in the leader's session belong to the app: no
 * other process can get the number of the session while one of its processes
 * lives. When the leader is dead, a process that began later belongs to the app
 * only if it has the mark (mark_scan.h). So one scan that begins after the
 * leader's death misses nothing.
 *
 * Errors: when no job can be started, or it dies, the next scan does all of it
 *         again. A signal may then be sent twice.
 * Trust:  the kernel lists the processes. A signal is sent by a pidfd whose
 *         start time was compared.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_SID_SCAN_H
#define APPPOOL_SPAWNER_PROCESS_SID_SCAN_H

#include "system/procfs.h"
#include "spawner/process/state.h"

/** Send `sign` to all processes that it has started, but not to its leader; 0:
 * send nothing, only scan. When its leader is dead, p->session says what was
 * found. */
void sid_scan_ask(spawner_t *s, process_t *p, int sign);

/** Ask for what it uses. @param what MEASURE_LIMIT: its memory, in
 * p->memory.bytes; MEASURE_USAGE: CPU time and memory, in p->usage */
void sid_scan_measure(spawner_t *s, process_t *p, int what);

/** Is this running process in the session of `p`, and not from before it? The
 * leader of the session is, too. */
int sid_scan_has(const process_t *p, const procfs_t *info);

/** Begin the next scan if one is due. */
void sid_scan_tick(spawner_t *s);

/** Call `each` for each running process of `p`, also for its leader. Only a
 * helper job calls this, because it takes long. */
void sid_scan_each(const process_t *p,
                   void (*each)(const procfs_t *info, void *ctx), void *ctx);

#endif
