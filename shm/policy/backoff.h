/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file backoff.h
 * @brief The starts of a group that fail, and the pauses between two tries.
 *
 * A start is a success when the process has responded to a request, or has been
 * live for APL_YOUNG. A process that ends by itself before that has ended
 * early. One such end is no failure: a process may be killed, or a request may
 * be the cause. From the second one in a row on, each is a failed start. It
 * makes no difference which program notices the end first: a child of httpd,
 * which cannot connect, or the spawner.
 *
 * A response ends the row, whichever process of the group gave it. For
 * APL_RESPONDED_LATELY after it, an early end is no failed start, and the row
 * gets no longer than one. So if one URL ends each process that gets it, the
 * group does not back off while other requests are served.
 *
 * A failure counts once: a process that was already being started at the last
 * failure says nothing new. A template may fork several at a time.
 *
 * Lock:  needed by all, except that apl_backoff_ends_early() and
 *        apl_backoff_has_counted() may guess without it.
 * Crash: a lost count means one try more, or a pause that is not ended early.
 * Trust: a count may be any number; no pause is longer than APL_BACKOFF_MAX.
 */
#ifndef APPPOOL_SHM_POLICY_BACKOFF_H
#define APPPOOL_SHM_POLICY_BACKOFF_H

#include "shm/slots/young.h"

#define APL_BACKOFF_MAX      60 /* s between two starts, after failed ones */

/* us: an app that responds to others is not broken as a whole. A fatal request
 * may end two processes before another request is served, because it may be
 * sent again. An app that breaks after it has worked starts without a pause for
 * so long. */
#define APL_RESPONDED_LATELY 3000000

/**
 * A start has failed: the group waits before the next one. The pause is 1 s,
 * doubled with each failure in a row, at most 60 s.
 * @param text what failed, in a sentence
 */
void apl_backoff_fail(apl_lock_token_t *token, apl_group_t *group,
                      const apl_process_t *process, uint64_t error_id,
                      const char *text);

/** A start has not failed: its process is live. After early ends, the pause
 * that they have caused goes on until a start is a success. */
void apl_backoff_note_ready(apl_lock_token_t *token, apl_group_t *group);

/**
 * If the live process ended by itself now, would that be a failed start?
 */
int apl_backoff_ends_early(const apl_group_t *group,
                           const apl_process_t *process, int64_t now);

/**
 * A live process has ended by itself, or is about to: count it if that was
 * early. Call this before its state changes.
 * @return 1: it is a failed start, and its id is the error id
 */
int apl_backoff_note_end(apl_lock_token_t *token, apl_group_t *group,
                         const apl_process_t *process);

/** A live process of the group has responded to a request. If it is outdated or
 * leaving, that says nothing about the code that is started now. */
void apl_backoff_note_response(apl_lock_token_t *token, apl_group_t *group,
                               const apl_process_t *process);

/** Was the end of this process counted as a failed start, when a child of httpd
 * noticed it or the process announced it? */
int apl_backoff_has_counted(const apl_group_t *group,
                            const apl_process_t *process);

/** A start of the group is a success. This ends the row of early ends, the
 * pause that they have caused, and trials (format.h, I21). */
void apl_backoff_end_row(apl_lock_token_t *token, apl_group_t *group);

/** apl_backoff_end_row(), if a process has become old enough since the last
 * early end. */
void apl_backoff_check(apl_lock_token_t *token, apl_group_t *group);

#endif
