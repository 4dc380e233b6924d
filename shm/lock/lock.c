/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/lock/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLICE 1000000 /* us of sleep, then the owner is checked */
#define SPINS 64

/* What the kernel knows of this thread. One variable, so that one lookup of
 * thread-local memory finds it all. */
typedef struct {
    uint32_t tid;
    struct robust_list_head *robust;
    void *before; /* glibc's list_op_pending from before */
    /* The word that this thread takes, has or gives. Other threads write the
     * word in the segment, but only this thread writes this variable. */
    const uint32_t *inside;
} self_t;

static __thread self_t self;

static void forget_self(void)
{
    self.tid = 0;
    self.inside = NULL;
}

static void watch_forks(void)
{
    /* After a fork, the only thread of the child has a copy of `self`. */
    pthread_atfork(NULL, NULL, forget_self);
}

static self_t *this_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    self_t *me = &self;

    if (__builtin_expect(me->tid == 0, 0)) {
        size_t size;

        pthread_once(&once, watch_forks);
        if (syscall(SYS_get_robust_list, 0, &me->robust, &size) != 0)
            me->robust = NULL;
        me->tid = (uint32_t)syscall(SYS_gettid);
    }
    return me;
}

/* Tell the kernel which word to look at when this thread ends. */
static inline void announce(self_t *me, const uint32_t *word)
{
    me->inside = word;
    if (me->robust) {
        me->before = me->robust->list_op_pending;
        me->robust->list_op_pending =
            (void *)((uintptr_t)word - (uintptr_t)me->robust->futex_offset);
    }
    __asm__ volatile("" ::: "memory");
}

/* Restore list_op_pending. It was not empty if this code runs in a signal
 * handler that interrupted a lock operation of glibc. */
static inline void unannounce(self_t *me)
{
    __asm__ volatile("" ::: "memory");
    if (me->robust)
        me->robust->list_op_pending = me->before;
    me->inside = NULL;
}

static inline int swap(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* @return 1: the whole time has passed */
static int sleep_on(uint32_t *word, uint32_t value, int64_t us)
{
    struct timespec limit = {us / 1000000, us % 1000000 * 1000};

    return syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0) < 0 &&
           errno == ETIMEDOUT;
}

static void wake_one(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int thread_exists(uint32_t tid)
{
    return syscall(SYS_tkill, (int)tid, 0) == 0 || errno != ESRCH;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Wait for a lock that another thread has. `keep` becomes FUTEX_WAITERS when
 * this thread has slept. Others may sleep, too, and only that bit of the word
 * tells the owner to wake them. */
static apr_status_t wait_for(uint32_t *word, uint32_t tid, int64_t limit,
                             int *died)
{
    int64_t until = limit < 0 ? INT64_MAX : now_us() + limit;
    uint32_t keep = 0;
    int spins = SPINS;

    for (;;) {
        uint32_t v = __atomic_load_n(word, __ATOMIC_RELAXED);
        uint32_t owner = v & FUTEX_TID_MASK;
        int64_t left;

        if (owner == 0 && swap(word, v, tid | keep | (v & FUTEX_WAITERS))) {
            *died = (v & FUTEX_OWNER_DIED) != 0;
            return APR_SUCCESS;
        }
        if (owner == tid) { /* this thread does not have it: damage */
            swap(word, v, FUTEX_WAITERS | FUTEX_OWNER_DIED);
            owner = 0;
        }
        if (spins > 0) {
            spins--;
            relax();
            continue;
        }
        /* Ask the clock. Sleeps may end early for ever, if the word keeps
         * changing. */
        left = limit < 0 ? SLICE : until - now_us();
        if (left <= 0) {
            if (keep != 0)
                wake_one(word); /* pass on the wake-up that it may have got */
            return APL_ELOCK;
        }
        if (owner == 0)
            continue;
        if (!(v & FUTEX_WAITERS)) {
            if (!swap(word, v, v | FUTEX_WAITERS))
                continue;
            v |= FUTEX_WAITERS;
        }
        keep = FUTEX_WAITERS;
        if (sleep_on(word, v, left < SLICE ? left : SLICE) &&
            __atomic_load_n(word, __ATOMIC_RELAXED) == v &&
            !thread_exists(owner))
            swap(word, v, FUTEX_WAITERS | FUTEX_OWNER_DIED);
    }
}

apr_status_t apl_lock_take(uint32_t *word, int64_t limit, int *died)
{
    self_t *me = this_thread();
    apr_status_t rv = APR_SUCCESS;

    *died = 0;
    if (me->inside == word)
        return APL_ELOCK; /* this thread has it, so it stays announced */
    announce(me, word);
    if (!swap(word, 0, me->tid))
        rv = wait_for(word, me->tid, limit, died);
    if (rv != APR_SUCCESS)
        unannounce(me);
    return rv;
}

int apl_lock_give(uint32_t *word)
{
    self_t *me = this_thread();
    uint32_t v = me->tid; /* the usual case: no thread waits */
    int mine = 1;

    while (mine && !__atomic_compare_exchange_n(
                       word, &v, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        mine = (v & FUTEX_TID_MASK) == me->tid;
    if (mine && (v & FUTEX_WAITERS))
        wake_one(word);
    unannounce(me);
    return mine;
}

int apl_lock_is_mine(const uint32_t *word)
{
    return apl_lock_holder(word) == this_thread()->tid;
}

uint32_t apl_lock_holder(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED) & FUTEX_TID_MASK;
}

void apl_lock_break(uint32_t *word, uint32_t owner)
{
    uint32_t v = __atomic_load_n(word, __ATOMIC_RELAXED);

    if ((v & FUTEX_TID_MASK) == owner &&
        swap(word, v, FUTEX_WAITERS | FUTEX_OWNER_DIED))
        wake_one(word);
}
