/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file output_state.h
 * @brief What the spawner remembers about the output of one process. The
 *        functions are in spawner/output/output.h and last_lines.h.
 *
 * Crash:  lines that were not written yet are lost.
 * Trust:  the lines come from the app.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_OUTPUT_STATE_H
#define APPPOOL_SPAWNER_PROCESS_OUTPUT_STATE_H

#include <stddef.h>

#include "base/token_bucket.h"

struct writer;

/** Of one process; zeroed at first. */
typedef struct {
    char *partial; /**< a line that has no end yet */
    size_t length, room;
    uint64_t cut; /**< bytes of this line that are left out */
    char *tail;   /**< last lines; NULL: none are kept */
    size_t tail_length;
    struct writer *writer; /**< of AppLog; NULL: none yet */
    token_bucket_t bucket;
    int over; /**< the token bucket was empty since the FIFO was read last */
    int64_t resume;   /**< us: the FIFO is not read before that; 0: no pause */
    uint64_t dropped; /**< lines since that was logged */
    int64_t say;      /**< us: not logged before that */
} output_t;

#endif
