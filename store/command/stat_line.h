/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stat_line.h
 * @brief One name with its value, in text or as a binary packet.
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_COMMAND_STAT_LINE_H
#define APPPOOL_STORE_COMMAND_STAT_LINE_H

#include "store/command/session_state.h"

/** Where the lines go. */
typedef struct {
    const store_session_t *session;
    store_reply_t *reply;
} store_stat_out_t;

/** At most 200 bytes of value. */
void store_stat_line(const store_stat_out_t *, const char *name,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void store_stat_line_number(const store_stat_out_t *, const char *name,
                            uint64_t n);

/** What ends the list. */
void store_stat_line_end(const store_stat_out_t *);

#endif
