/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lock_rescue.h
 * @brief The pool's lock in the name of somebody who does not hold it.
 *
 * A hostile child of httpd can write any thread's number into the lock. The
 * kernel frees it when that thread ends; one that lives would keep everybody
 * waiting for good. Whoever is inside runs, and is out again in microseconds:
 * he sleeps only when he is stopped, or waits for a page. So a thread that has
 * been in the lock for a second, without any change in the pool, and sleeps
 * for something to happen, does not hold it, or will not give it back soon; nor
 * does one that is no thread of httpd's children hold it.
 *
 * A thread whose cgroup is frozen sleeps as well, and may have been inside. The
 * pool goes on without it; shm/verbs/enter.h says what it does when it runs
 * again.
 *
 * Trust: the lock is believed to name its owner, and nothing more. A child
 *        that keeps it and runs all the time cannot be told from a busy one.
 */
#ifndef APPPOOL_SPAWNER_UPKEEP_LOCK_RESCUE_H
#define APPPOOL_SPAWNER_UPKEEP_LOCK_RESCUE_H

#include "spawner/state/state.h"

/** Look, once a second. */
void lock_rescue_check(spawner_t *s);

#endif
