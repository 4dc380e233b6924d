/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lock_rescue.h
 * @brief Frees the pool lock when it names a thread that does not hold it.
 *
 * A hostile child of httpd can write the number of any thread into the lock.
 * The kernel frees the lock when that thread ends. But if the thread lives, all
 * others would wait for ever. A real lock holder runs, and gives the lock back
 * after microseconds. It sleeps only when it is stopped, or waits for a page.
 * So there are two signs that the thread does not hold the lock, or will not
 * give it back soon. First: for a second, the lock has named the same thread,
 * nothing in the pool has changed, and the thread sleeps until something
 * happens. Second: the thread belongs to no child of httpd.
 *
 * A thread whose cgroup is frozen also sleeps, and may really hold the lock.
 * The pool continues without it. shm/verbs/enter.h says what happens when it
 * runs again.
 *
 * Lock:  reads the lock word, and may free the lock.
 * Trust: the number in the lock is used, and nothing else. A child that keeps
 *        the lock and runs all the time looks like a busy one.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_LOCK_RESCUE_H
#define APPPOOL_SPAWNER_CONTROL_LOCK_RESCUE_H

#include "spawner/process/state.h"

/** Check the lock. Call this once a second. */
void lock_rescue_check(spawner_t *s);

#endif
