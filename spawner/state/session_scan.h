/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session_scan.h
 * @brief What runs of which process of an app? One look at all processes of
 *        the system answers that for all who have asked, sends them signals,
 *        and adds up their memory.
 *
 * A child of the spawner looks (helper_job.h), as that takes about 20 us for
 * each process of the system, whoever's it is. One looks at a time: who asks
 * meanwhile is answered by the next one. Nothing that the child reads makes it
 * wait. Who has a cgroup is looked for there, and nowhere else.
 *
 * Without a cgroup, what is in the leader's session is the app's: no stranger
 * can get its number while one of them lives. When the leader is dead, what
 * began later is only the app's if it bears the mark (mark_scan.h). So one look
 * that begins after that death misses nothing.
 *
 * Errors: when there is no child, or it dies, all is asked for once more; a
 *         signal may then be sent twice.
 * Crash:  a new spawner asks anew.
 * Trust:  the kernel's word. A signal is sent by a pidfd whose start time was
 *         compared.
 */
#ifndef APPPOOL_SPAWNER_STATE_SESSION_SCAN_H
#define APPPOOL_SPAWNER_STATE_SESSION_SCAN_H

#include "spawner/common/procfs.h"
#include "spawner/state/state.h"

/** Send `sign` to all that it has started, and not to its leader; 0: only
 * look. p->session says what was found, once its leader is dead. */
void session_scan_ask(spawner_t *s, process_t *p, int sign);

/** Have its memory added up: p->memory.bytes. */
void session_scan_measure(spawner_t *s, process_t *p);

/** Begin what is due. */
void session_scan_tick(spawner_t *s);

/** Call `each` for every process that runs and is of `p`, its leader too. It
 * takes its time: in a child only. */
void session_scan_each(const process_t *p,
                       void (*each)(const procfs_t *who, void *ctx), void *ctx);

#endif
