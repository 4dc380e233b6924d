/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file alert.h
 * @brief AppNotify: what an administrator wants to be told of, put together so
 *        that it does not become a flood.
 *
 * The first event of an app is told at once, and those that follow together,
 * a minute later at the earliest: the last one, how many there were, and the
 * earlier ones, as far as they fit. doc/operations.md describes the object.
 *
 * Whether starts of an app fail is kept here as well, told or not: it begins
 * with the first one that fails, and ends with a process that stays.
 *
 * Crash: what was to be told later is lost; it is in the log. That starts fail
 *        is known from e/KEY (start_failure.h), and told once more when that
 *        could not be written. A process that began to stay meanwhile is
 *        unseen: the next one that does ends it.
 * Trust: texts may hold what an app or a client said, of any bytes; they
 *        arrive as valid JSON.
 */
#ifndef APPPOOL_SPAWNER_ALERT_ALERT_H
#define APPPOOL_SPAWNER_ALERT_ALERT_H

#include "spawner/state/state.h"

enum {
    ALERT_START_FAILED,   /**< a process did not start */
    ALERT_BACKOFF_OPENED, /**< the first one in a row */
    ALERT_BACKOFF_CLOSED, /**< the app starts again */
    ALERT_BROKEN_DEPLOY,  /**< new code does not start, the old one serves on */
    ALERT_DEATHS,         /**< alert_death() */
    ALERT_KILLED,         /**< a process was killed for a request of its */
    ALERT_UNKILLABLE      /**< AppMaxUnkillable */
};

/** Something happened to a process, or with it to its app. */
void alert_raise(spawner_t *s, const process_t *p, int event,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/** A start of its app failed. @return 1: the first one in a row */
int alert_open(spawner_t *s, const process_t *p);

/** It stays, so its app starts again, unless a start failed after it had
 * become ready. @return 1: starts failed until now */
int alert_close(spawner_t *s, const process_t *p);

/** Starts of the app failed already under the last spawner. */
void alert_recall(const char *app);

/** A process died unasked. Some within a minute are an event. @param cause in
 * words */
void alert_death(spawner_t *s, const process_t *p, const char *cause);

/** Tell what is due. */
void alert_tick(spawner_t *s);

#endif
