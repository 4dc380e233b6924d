/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_job.h
 * @brief A helper job (job.h) makes the responses that take long. The
 *        loop only copies their text.
 *
 * One job runs at a time. After it there is a pause that is at least as long as
 * the job ran, so a flood of commands uses at most half of a core.
 *
 * Lock:   the child may take the pool's lock for a copy (snapshot.h).
 * Errors: if the child fails or takes too long, there is no text.
 * Crash:  if the spawner dies, its clients lose their connections.
 * Trust:  the child is the spawner's own program.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_STATUS_JOB_H
#define APPPOOL_SPAWNER_CONTROL_STATUS_JOB_H

#include <jansson.h>

#include "spawner/process/state.h"

#define STATUS_JOB_LIMIT (20 * SECOND) /* for the child */

typedef struct status_job_order status_job_order_t;

/** Make a response: called in the child. @return NULL: there is no memory */
typedef json_t *status_job_make_t(spawner_t *s,
                                  const status_job_order_t *order);

/** Which response to make. Zeroed at first, so that two orders for the same
 * response are equal byte by byte. */
struct status_job_order {
    status_job_make_t *make;
    uid_t only; /**< the apps of this user; USERDB_NOBODY: all apps */
    char app[APL_NAME_MAX]; /**< this app; "": all */
    uint64_t process;       /**< id of a process */
    int64_t limit;          /**< us for the child; 0: STATUS_JOB_LIMIT */
};

/** The child has ended.
 * @param text of `size` bytes, as long as this call lasts; NULL: there is none
 */
typedef void status_job_made_t(spawner_t *s, const char *text, size_t size);

/**
 * Begin a response. The pool is read after this call.
 * @return 1: `made` will be called; 0: not now, the loop wakes up to try it
 *         again; -1: there is no memory, or no child
 */
int status_job_begin(spawner_t *s, const status_job_order_t *order,
                     status_job_made_t *made);

#endif
