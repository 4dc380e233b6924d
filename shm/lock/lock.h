/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lock.h
 * @brief The pool's mutex: shared by processes, and it says when its last
 *        owner died while holding it.
 *
 * It is one word in the segment that follows the kernel's robust futex
 * protocol: the owner's thread id, FUTEX_WAITERS, FUTEX_OWNER_DIED. A POSIX
 * robust mutex follows the same protocol, but glibc links each one that is
 * held into a list whose pointers stand in the mutex, that is in the segment:
 * root's spawner would store through addresses that any httpd child can
 * write. So the list is not used. The word is named to the kernel by
 * `list_op_pending` of the thread's robust list head, which is private memory
 * and which glibc needs only during its own lock operations; nobody calls
 * those while this lock is held. When the thread ends, however it ends, the
 * kernel marks the word and wakes one waiter.
 *
 * Should list_op_pending be overwritten all the same (a signal handler that
 * exits through cleanups), waiters find out within a second that the owner's
 * thread does not exist and take over as if the kernel had marked it.
 *
 * A lock can be broken although its owner lives: the owner did not run for a
 * second, because its cgroup is frozen for example. When that owner runs again
 * it frees nothing: the word then names another thread, or nobody.
 *
 * Lock:  this is it. Not recursive: APL_ELOCK to the thread that holds it.
 * Crash: at any instruction; the next owner gets APR_SUCCESS and *died = 1.
 * Trust: a hostile word can keep everybody waiting; who must not hang passes
 *        a limit, and who knows better breaks it. A word that names a thread
 *        which waits for the lock is taken as that of an owner that died.
 */
#ifndef APPPOOL_SHM_LOCK_LOCK_H
#define APPPOOL_SHM_LOCK_LOCK_H

#include <stdint.h>

#include "shm/format/error.h"

/**
 * @param word  in the segment; 0 = free
 * @param limit us, or negative: wait as long as it takes
 * @param died  1: the last owner died inside
 * @return APR_SUCCESS or APL_ELOCK
 */
apr_status_t apl_lock_take(uint32_t *word, int64_t limit, int *died);

/**
 * Free the lock, and wake a waiter. Nothing happens to the word when it does
 * not name this thread any more.
 * @return 1; 0: the lock was broken meanwhile, and others may have been inside
 */
int apl_lock_give(uint32_t *word);

/** Does the word name this thread? */
int apl_lock_is_mine(const uint32_t *word);

/** The thread that has it, as the word says. @return 0: nobody */
uint32_t apl_lock_holder(const uint32_t *word);

/** `owner` does not hold the lock, or will not give it back: free it, as if
 * that thread had died inside. */
void apl_lock_break(uint32_t *word, uint32_t owner);

#endif
