/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file mark_scan.h
 * @brief Finds processes by their mark (APPPOOL_ID in their environment) and
 *        sends them a signal.
 *
 * It finds the processes that a process of an app has started. It also finds
 * processes that have a mark of this instance but are in no record. A process
 * in the session of a recorded process belongs to that process, whatever id its
 * mark has. A helper job scans, because any process may make the reader of its
 * environment wait (environ_scan.h). One job scans for all requests of callers.
 * The next one begins when it has ended.
 *
 * Trust: a process may write any mark into its own environment. At worst it
 *        is killed for that. A process whose mark cannot be read is left
 *        alone, and that is logged once.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_MARK_SCAN_H
#define APPPOOL_SPAWNER_PROCESS_MARK_SCAN_H

#include "spawner/process/state.h"

/** Send `sign` to each process with its mark; 0: send nothing, only scan. When
 * its leader is dead, p->marks.found says what was found. */
void mark_scan_ask(spawner_t *s, process_t *p, int sign);

/** Send KILL to each stray process: it has our mark, began before now and is in
 * no record. */
void mark_scan_kill_strays(spawner_t *s);

/** Begin the next scan if one is due. */
void mark_scan_tick(spawner_t *s);

#endif
