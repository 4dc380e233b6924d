/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file note.h
 * @brief Lines for the error log of httpd.
 *
 * The store cannot open the error log, because it is not root. It writes lines
 * to the FIFO CONTRACT_STORE_LOG, which the spawner reads: "<level>text\n".
 * Without the FIFO, lines go to CONTRACT_LOG_FD as they are.
 *
 * Lock:  store_note(): any thread; the others: the main thread. A line is
 *        one write().
 * Errors: a line is lost when the FIFO is full. Nothing waits for the log. A
 *         later line says how many were lost.
 */
#ifndef APPPOOL_STORE_NOTE_H
#define APPPOOL_STORE_NOTE_H

#include <stdint.h>

/** Levels, as httpd numbers them. */
enum { STORE_ERROR = 3, STORE_WARN, STORE_NOTICE, STORE_INFO };

/** From now on lines go to the FIFO, if there is one. @param dirfd the runtime
 * directory */
void store_note_open(int dirfd);

/** From now on lines go to CONTRACT_LOG_FD: at a stop the spawner has ended. */
void store_note_directly(void);

/** May a line of a kind be written that repeats? One in this time may.
 * @param at ms: when the last one was; 0: never. The call sets it
 * @param now ms */
int store_note_is_first(int64_t *at, int64_t now, int64_t ms);

/** One a minute may: the rule for most lines. */
int store_note_is_due(int64_t *at, int64_t now);

/** Write one line. What is longer than a page is cut off. */
void store_note(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
