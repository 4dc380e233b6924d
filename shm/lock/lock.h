/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lock.h
 * @brief The pool's mutex. Processes share it, and it says when its last
 *        holder died inside.
 *
 * It is one word in the segment that follows the robust futex protocol of the
 * kernel: the thread id of the lock holder, FUTEX_WAITERS and
 * FUTEX_OWNER_DIED. A POSIX robust mutex follows the same protocol. But glibc
 * links each such mutex that is held into a list whose pointers are in the
 * mutex, which means in the segment. Then root's spawner would write through
 * addresses that any child of httpd can change. So that list is not used.
 * Instead, `list_op_pending` of the thread's robust list head names the word
 * to the kernel. That head is private memory, and glibc needs the field only
 * during its own lock operations, which nobody calls while this lock is held.
 * When the thread ends, in any way, the kernel marks the word and wakes one
 * waiter.
 *
 * The field may be overwritten all the same, by a signal handler that exits
 * through cleanups. Then waiters notice within a second that the holder's
 * thread does not exist, and take the lock as if the kernel had marked it.
 *
 * A lock can be broken although its holder lives: the holder did not run for a
 * second, for example because its cgroup is frozen. When that holder runs
 * again, it does not free the lock: the word names another thread by then, or
 * none.
 *
 * Lock:  this is it. It is not recursive: the lock holder gets APL_ELOCK.
 * Crash: at any instruction; the next holder gets APR_SUCCESS and *died = 1.
 * Trust: a hostile word can make everybody wait. A caller that must not hang
 *        passes a limit, and a caller that knows better breaks the lock. If
 *        the word names a thread that waits for the lock itself, that holder
 *        counts as dead.
 */
#ifndef APPPOOL_SHM_LOCK_LOCK_H
#define APPPOOL_SHM_LOCK_LOCK_H

#include <stdint.h>

#include "shm/format/error.h"

/**
 * Take the lock.
 * @param word  in the segment; 0 = free
 * @param limit us; negative: wait without a limit
 * @param died  1: the last holder died inside
 * @return APR_SUCCESS or APL_ELOCK
 */
apr_status_t apl_lock_take(uint32_t *word, int64_t limit, int *died);

/**
 * Free the lock and wake a waiter. The word does not change if it does not
 * name this thread any more.
 * @return 1; 0: the lock was broken meanwhile, and others may have been inside
 */
int apl_lock_give(uint32_t *word);

/** Does the word name this thread? */
int apl_lock_is_mine(const uint32_t *word);

/** The thread that has the lock, as the word says. @return 0: none */
uint32_t apl_lock_holder(const uint32_t *word);

/** The thread `owner` does not hold the lock, or will not give it back: free
 * the lock as if that thread had died inside. */
void apl_lock_break(uint32_t *word, uint32_t owner);

#endif
