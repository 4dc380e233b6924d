/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lock.h
 * @brief The pool's mutex. Processes share it. The next holder learns that the
 *        last one died inside.
 *
 * It is one word in the segment that follows the robust futex protocol of the
 * kernel: the thread id of the lock holder, FUTEX_WAITERS and
 * FUTEX_OWNER_DIED. A POSIX robust mutex follows the same protocol. But glibc
 * links each such mutex that is held into a list whose pointers are in the
 * mutex, which means in the segment. Then root's spawner would write through
 * addresses that any child of httpd can change. So that list is not used.
 * Instead, `list_op_pending` of the thread's robust list head names the word
 * to the kernel. That head is private memory, and glibc needs the field only
 * during its own lock operations, which no code calls while this lock is held.
 * When the thread ends, in any way, the kernel marks the word and wakes one
 * waiter.
 *
 * A signal handler that exits through cleanups may still overwrite the field.
 * Then waiters notice within a second that the holder's thread does not exist,
 * and take the lock as if the kernel had marked it.
 *
 * A lock can be broken although its holder lives: the holder did not run for a
 * second, for example because its cgroup is frozen. When that holder runs
 * again, it does not free the lock: the word names another thread by then, or
 * none.
 *
 * Lock:  this is it. It is not recursive: the lock holder gets APL_ELOCK.
 * Crash: at any instruction; the next holder gets APR_SUCCESS and *died = 1.
 * Trust: a hostile word can make all callers wait. A caller that must not hang
 *        passes a limit. A caller that knows that the word is wrong breaks the
 *        lock. If the word names a thread that itself waits for the lock, that
 *        holder counts as dead.
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

/** The thread that has the lock, according to the word. @return 0: none */
uint32_t apl_lock_holder(const uint32_t *word);

/** Free the lock as if the thread `owner` had died inside. The caller knows
 * that this thread does not hold the lock, or will not give it back. */
void apl_lock_break(uint32_t *word, uint32_t owner);

#endif
