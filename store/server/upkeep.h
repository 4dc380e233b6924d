/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file upkeep.h
 * @brief What is due in the spaces each second: flushes with a delay, the end
 *        of spaces that are gone for an hour, lines about full spaces.
 *
 * Lock:  none; the main thread.
 * Crash: a space that is being forgotten may have an entry and no items. The
 *        next store forgets it again.
 */
#ifndef APPPOOL_STORE_SERVER_UPKEEP_H
#define APPPOOL_STORE_SERVER_UPKEEP_H

#include <stdint.h>

/** @param now ms */
void store_upkeep_tick(int64_t now);

/** Do a part of what a larger size of a space needs (store/memory/space.h). In
 * each turn. @return 1: there is more to do */
int store_upkeep_grow(void);

/** The workers have ended: what was not logged yet. */
void store_upkeep_end(void);

#endif
