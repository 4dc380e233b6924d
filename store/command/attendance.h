/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file attendance.h
 * @brief The sessions of all spaces, for `stats conns`.
 *
 * A session shows what it does. Its worker writes that after each turn, and any
 * worker reads it.
 *
 * Lock:  one for the list in which they are, inside of each function.
 */
#ifndef APPPOOL_STORE_COMMAND_ATTENDANCE_H
#define APPPOOL_STORE_COMMAND_ATTENDANCE_H

#include <stdint.h>

#include "store/memory/extent.h"

/** What a session shows. Each field is atomic, except `number`. */
typedef struct {
    uint64_t number;     /**< of the session: 1, 2 ... */
    uint32_t spoke;      /**< s: the last bytes of the client */
    uint32_t n_locks;    /**< items that it has locked */
    uint32_t n_counters; /**< that it holds */
    uint8_t protocol;    /**< store_protocol_t */
    uint8_t phase;       /**< store_phase_t */
} store_shown_t;

/** In the session. */
typedef struct store_attendant {
    struct store_attendant *next, *previous;
    const store_space_t *space;
    store_shown_t shown;
} store_attendant_t;

void store_attendance_begin(store_attendant_t *, const store_space_t *);
void store_attendance_end(store_attendant_t *);

/** What those of a space show, in the order in which they came.
 * @param n how many there are
 * @return malloc; NULL: no memory */
store_shown_t *store_attendance_list(const store_space_t *, unsigned *n);

#endif
