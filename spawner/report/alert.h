/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file alert.h
 * @brief AppNotify: collects the events of an app into notifications, so that
 *        the administrator does not get a flood of them.
 *
 * The first event of an app is sent at once. The events that follow are sent
 * together, a minute later at the earliest: the last one, how many there were,
 * and the earlier ones as far as they fit. doc/operations.md describes the
 * object.
 *
 * This file also knows whether the starts of an app fail, with or without
 * AppNotify. This state begins with the first start that fails, and ends with a
 * start that is a success (phase.c).
 *
 * Crash: events that were not sent yet are lost; the log has them. A new
 *        spawner knows from e/KEY (start_failure.h) that starts fail. If that
 *        file could not be written, it notifies of this once more. A success
 *        while no spawner ran is not seen: the next success counts.
 * Trust: texts may contain any bytes of an app or a client. The notification is
 *        still valid JSON.
 */
#ifndef APPPOOL_SPAWNER_REPORT_ALERT_H
#define APPPOOL_SPAWNER_REPORT_ALERT_H

#include "spawner/process/state.h"

enum {
    ALERT_START_FAILED,   /**< a process did not start */
    ALERT_BACKOFF_OPENED, /**< the first one in a row */
    ALERT_BACKOFF_CLOSED, /**< the app starts again */
    ALERT_BROKEN_DEPLOY,  /**< new code does not start, the old one serves on */
    ALERT_DEATHS,         /**< alert_death() */
    ALERT_KILLED,         /**< a process was killed for one of its requests */
    ALERT_UNKILLABLE      /**< AppMaxUnkillable */
};

/** Something happened to a process or to its app. */
void alert_raise(spawner_t *s, const process_t *p, int event,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/** A start of its app failed. @return 1: the first one in a row */
int alert_open(spawner_t *s, const process_t *p);

/** The start of this process is a success, so its app starts again, unless a
 * start failed after the process became ready. @return 1: starts failed until
 * now */
int alert_close(spawner_t *s, const process_t *p);

/** Starts of the app already failed under the last spawner. */
void alert_recall(const char *app);

/** A process died, although nothing had asked it to end. Several deaths within
 * a minute are an event. @param cause in words */
void alert_death(spawner_t *s, const process_t *p, const char *cause);

/** Send the notifications that are due. */
void alert_tick(spawner_t *s);

#endif
