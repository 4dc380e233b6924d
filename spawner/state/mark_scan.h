/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file mark_scan.h
 * @brief What bears the mark of a process of an app, or of one that is in no
 *        record: found, and sent a signal, by a child of the spawner, as a
 *        stranger may keep it waiting (environ_scan.h). One child looks for all
 *        that was asked for, and the next one begins when it has ended.
 *
 * Crash: a new spawner scans anew.
 * Trust: a mark is the process's own word, and at worst ends itself. Whose
 *        mark cannot be read is left alone, and logged once.
 */
#ifndef APPPOOL_SPAWNER_STATE_MARK_SCAN_H
#define APPPOOL_SPAWNER_STATE_MARK_SCAN_H

#include "spawner/state/state.h"

/** Send `sign` to whatever bears its mark; 0: only look. When its leader is
 * dead, p->marks.found says what was found. */
void mark_scan_ask(spawner_t *s, process_t *p, int sign);

/** KILL what bears our mark, began before now and is in no record. */
void mark_scan_kill_strays(spawner_t *s);

/** Begin what is due. */
void mark_scan_tick(spawner_t *s);

#endif
