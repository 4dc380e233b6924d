/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file numbers.h
 * @brief The numbers of an application: its responses, and how long they took
 *        lately.
 *
 * Counters only go up. A child of httpd adds to them when a response has ended:
 * relaxed atomic additions, outside the lock. They are the truth, and nothing
 * ever sets them back while the group exists. The spawner copies them from time
 * to time: such a copy is a moment. What happened since a moment is the
 * counters of now minus those of that moment, modulo 2^32.
 *
 * So nothing is rotated under the hand of a writer. A child that sleeps between
 * two instructions for an hour adds its response to the present. No old value
 * can get into a moment, because only the spawner writes moments.
 *
 * Each window (1, 5, 60 minutes) has four moments. They are a third of the
 * window apart, so one of them is older than the window, and at most four
 * thirds of it. A reader takes the youngest one that is old enough, and says
 * what time the window really covers.
 *
 * Lock:  none, except where a function takes the token.
 * Crash: a child that is killed has counted its response, or not, or in some of
 *        the counters; each of them is wrong by this one response at most. A
 *        spawner that is killed leaves a moment without a time, which readers
 *        pass over, and which the next spawner writes again.
 * Trust: any child may write anything here. The values serve only the views.
 *        Each loop has a constant bound, and no index is read from here.
 */
#ifndef APPPOOL_SHM_SLOTS_NUMBERS_H
#define APPPOOL_SHM_SLOTS_NUMBERS_H

#include "shm/lock/lock_token.h"

/** A response, as its client saw it. */
typedef struct {
    uint32_t status; /**< 100 to 599 */
    uint32_t fault;  /**< APL_FAULT_* */
    uint64_t bytes;
    int64_t took; /**< us that the request waited and had a process; < 0: this
                       says nothing about how fast the application is */
} apl_response_t;

/** Count a response for the group. If the group ends meanwhile, another group
 * may get this one response. */
void apl_numbers_count(apl_pool_t *pool, apl_group_t *group,
                       const apl_response_t *response, int64_t now);

/** The numbers of a group that has counted something. @return NULL: it has not,
 * and its pages must not be touched */
const apl_numbers_t *apl_numbers_of(const apl_pool_t *pool,
                                    const apl_group_t *group);

/** The group is used, although it may have counted nothing yet: its numbers
 * begin. */
apl_numbers_t *apl_numbers_use(apl_pool_t *pool, apl_group_t *group,
                               int64_t now);

/** A process of the group has died. Of more than APL_DEATHS reasons, that of
 * the longest time ago is forgotten. @param reason in a few words */
void apl_numbers_note_death(apl_lock_token_t *token, apl_group_t *group,
                            const char *reason);

/** A new group takes the slot: forget what an earlier one has counted. */
void apl_numbers_forget(apl_lock_token_t *token, apl_group_t *group);

/** Write a moment or a step: a record that begins with its time, in us. While
 * it is written, its time is 0. */
void apl_numbers_write(void *to, const void *is, size_t size);

/** Copy such a record. @return its time; 0: there is none, or it was written
 * meanwhile */
int64_t apl_numbers_read(void *to, const void *from, size_t size);

/** Write the moments that are due. Only the spawner calls it, once in each
 * step. */
void apl_numbers_keep(apl_numbers_t *numbers, int64_t now);

/** What an application did in a window. */
typedef struct {
    int64_t span; /**< us that this is about */
    uint32_t responses[APL_CLASSES];
    uint32_t times[APL_TIMES];
} apl_window_t;

/** The length of each window, in us. */
extern const int64_t apl_window_lengths[APL_WINDOWS];

/** What happened since the last step. */
void apl_numbers_step(const apl_numbers_t *numbers, int64_t now,
                      apl_window_t *is);

/** What happened in a window that ends now. */
void apl_numbers_window(const apl_numbers_t *numbers, int window, int64_t now,
                        apl_window_t *is);

#endif
