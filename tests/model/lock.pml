/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* shm/lock/lock.c: one word, the robust futex protocol of the kernel, and
 * threads that may be killed between any two steps.
 *
 * A step (`atomic`) is one access to shared memory, and the conclusions of the
 * thread from it:
 *
 *     model            code
 *     pending[me]      announce(): list_op_pending names the word
 *     take             apl_lock_take()
 *     look ... asked   wait_for(), from one look at the word to the next; the
 *                      spins are such looks, and add nothing
 *     sleep            FUTEX_WAIT: the kernel compares and queues in one
 *     give             apl_lock_give(): compare and exchange until the word
 *                      names another thread or is free, FUTEX_WAKE,
 *                      unannounce()
 *     breaker          apl_lock_break(), although the owner is alive
 *     died             the kernel's exit_robust_list() and
 *                      handle_futex_death(); then the thread's id is gone
 *
 * In the model FUTEX_WAKE wakes any sleeper; the kernel wakes the first one.
 * Stores are seen in the order of the program: all stores to the word are
 * locked instructions, and such an instruction confirms what a look has seen.
 *
 * A slice of sleep may end at any moment, EARLY times in each thread. When
 * nothing else can happen, all slices end, LATE times. What is proved:
 *
 *     always         at most one thread is inside. A thread that comes in
 *                    learns of a death if, and only if, a thread died inside
 *                    and no other thread has learned of it since
 *     KILLS=0 LATE=0 each thread comes in: no wake-up is lost; also with EARLY
 *     KILLS=n LATE=1 each living thread comes in, within one slice
 *     KILLS=n LATE=0 a thread sleeps on in one case only (`excused`): another
 *                    thread died that was to wake it, or that was woken and
 *                    had not looked yet; and a third thread had the lock when
 *                    the kernel looked
 *     LOST=1 LATE=2  list_op_pending was overwritten, so the kernel does not
 *                    look. Slices find the death, at most two of them
 *     LIMIT=1        the last thread may give up at any moment after some
 *                    sleep. If it was woken, it wakes another thread
 *     BREAKS=n       the lock is taken from a living owner, which continues
 *                    later. The owner does not free the lock of another thread
 *
 * M_* are mistakes. tests/model/run wants Spin to find each. */

#ifndef N
#define N 3 /* threads, at most 3; their number is their id */
#endif
#ifndef ROUNDS
#define ROUNDS 2 /* how often each wants the lock */
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef EARLY
#define EARLY 0
#endif
#ifndef LATE
#define LATE 0
#endif
#ifndef LOST
#define LOST 0
#endif
#ifndef LIMIT
#define LIMIT 0
#endif
#ifndef BREAKS
#define BREAKS 0
#endif

#define TID        3
#define WAITERS    4
#define OWNER_DIED 8

byte word;
bool pending[4]; /* announced to the kernel */
bool asleep[4];  /* in the kernel's queue of the word */
bool woken[4];   /* taken out of it by a wake-up */
bool exists[4];  /* the thread has an id, so it was not reaped */
bool killed[4];

/* Only the claims look at these. */
byte inside;   /* the thread that has the lock */
bool torn;     /* a thread died inside, and no thread knows it yet */
bool owing[4]; /* a sleeper's wake-up depends on this thread */
bool excused;  /* a wake-up was lost in the one way that is allowed */
byte finished; /* threads that came in each time, or died */

#ifdef M_UNREPORTED
#define REPORTED(before) false
#else
#define REPORTED(before) (((before) & OWNER_DIED) != 0)
#endif
#ifdef M_KEEP_FORGOTTEN
#define KEEP 0
#else
#define KEEP WAITERS
#endif
#ifdef M_OWNER_NOT_ASKED
#define GONE(id) true
#else
#define GONE(id) (!exists[id])
#endif
#ifdef M_NO_EXCUSE
#define EXCUSED false
#else
#define EXCUSED excused
#endif
#ifdef M_GIVE_ANYWAY
#define MINE true
#else
#define MINE ((v & TID) == me)
#endif
#ifdef M_BLIND_SLEEP
#define UNCHANGED true
#else
#define UNCHANGED (word == v)
#endif

/* The word was taken; what was it before? */
inline come_in(before)
{
    assert(inside == 0);
    assert(torn == REPORTED(before));
    torn = false;
    inside = me;
    owing[me] = false
}

/* FUTEX_WAKE of one, within an atomic. */
inline wake()
{
    owing[me] = false;
    if
    :: asleep[1] -> asleep[1] = false; woken[1] = true; owing[1] = true
    :: asleep[2] -> asleep[2] = false; woken[2] = true; owing[2] = true
    :: asleep[3] -> asleep[3] = false; woken[3] = true; owing[3] = true
    :: else
    fi
}

proctype thread(byte me)
{
    byte v, keep, rounds, early;
    bool over;

    {
        early = EARLY;
take:
        atomic {
            if
            :: rounds == ROUNDS -> goto end
            :: else -> rounds++
            fi;
#ifndef M_LATE_ANNOUNCE
            pending[me] = true
#endif
        };
        atomic {
            if
            :: word == 0 -> word = me; come_in(0); goto taken
            :: else -> keep = 0
            fi
        };
#ifdef M_LATE_ANNOUNCE
        pending[me] = true;
#endif
look:
        atomic {
            v = word;
            over = false;
            if
            :: (v & TID) == 0 -> goto is_free
            :: (v & TID) != 0 && LIMIT && me == N && keep != 0 ->
                v = 0;
                goto refused
            :: (v & TID) != 0 && (v & WAITERS) ->
                owing[me] = false;
                goto sleep
            :: (v & TID) != 0 && !(v & WAITERS)
            fi
        };
        atomic {
            if
            :: word == v ->
                v = v | WAITERS;
                word = v;
                owing[me] = false;
                goto sleep
            :: else -> v = 0; goto look
            fi
        };
is_free:
        atomic {
            if
            :: word == v ->
                word = me | keep | (v & WAITERS);
                come_in(v);
                v = 0;
                goto taken
            :: word != v -> v = 0; goto look
            :: word != v && LIMIT && me == N && keep != 0 ->
                v = 0;
                goto refused
            fi
        };
sleep:
        atomic {
            keep = KEEP;
            if
            :: UNCHANGED -> asleep[me] = true; over = true
            :: else
            fi
        };
        atomic {
            if
            :: !asleep[me] && woken[me] -> woken[me] = false; over = false
            :: !asleep[me] && !woken[me] /* the slice, or no sleep at all */
            :: asleep[me] && early > 0 -> asleep[me] = false; early--
            fi;
            if
            :: !over -> v = 0; goto look
            :: else
            fi
        };
        atomic {
            if
            :: word != v -> v = 0; goto look
            :: else
            fi
        };
        atomic {
            if
            :: GONE(v & TID)
            :: else -> v = 0; goto look
            fi
        };
asked:
        atomic {
            if
            :: word == v -> word = WAITERS | OWNER_DIED
            :: else
            fi;
            v = 0;
            goto look
        };
refused: /* APL_ELOCK */
#ifndef M_WAKE_KEPT
        atomic { wake() };
#endif
        atomic {
            pending[me] = false;
            keep = 0;
            goto take
        };
taken:
        atomic {
#ifdef M_LATE_ANNOUNCE
            pending[me] = true;
#endif
            keep = 0
        };
give:
#ifdef M_EARLY_UNANNOUNCE
        pending[me] = false;
#endif
#ifdef M_WAKE_FIRST
        atomic { wake() };
#endif
        atomic {
            v = word;
            if
            :: MINE
            :: else -> v = 0; goto given
            fi
        };
        atomic {
            if
            :: word == v ->
                word = 0;
                inside = 0;
                owing[me] = (v & WAITERS) != 0
            :: else -> v = 0; goto give
            fi
        };
#ifndef M_WAKE_FIRST
        atomic {
            if
            :: v & WAITERS -> wake()
            :: else
            fi;
            v = 0
        };
#endif
given:
        atomic {
            pending[me] = false;
            goto take
        };
end:
        skip
    } unless {
        atomic {
            killed[me];
            goto died
        }
    };
    goto gone;
died:
    asleep[me] = false;
again:
    atomic {
        v = word;
        if
        :: owing[me] &&
           (!pending[me] || ((v & TID) != 0 && (v & TID) != me)) ->
            excused = true;
            owing[me] = false
        :: else
        fi;
        if
        :: !pending[me] || ((v & TID) != 0 && (v & TID) != me) -> goto gone
        :: pending[me] && (v & TID) == 0 -> goto last_wake
        :: else
        fi
    };
    atomic {
        if
        :: word != v -> goto again
        :: word == v && !(v & WAITERS) -> word = OWNER_DIED; goto gone
        :: else -> word = WAITERS | OWNER_DIED
        fi
    };
last_wake:
    atomic { wake() };
gone:
    atomic {
        exists[me] = false;
        v = 0;
        keep = 0;
        rounds = 0;
        early = 0;
        over = false;
        woken[me] = false;
        finished++
    }
}

#include "lock_harm.pml"

init {
    byte i, slices;

    atomic {
        for (i : 1 .. N) {
            exists[i] = true;
            run thread(i)
        };
        if
        :: KILLS > 0 -> run killer()
        :: else
        fi;
        if
        :: BREAKS > 0 -> run breaker()
        :: else
        fi;
        i = 0
    };
    do
    :: timeout ->
        if
        :: slices < LATE && finished < N ->
            atomic {
                slices++; /* each sleep has been long enough */
                asleep[1] = false;
                asleep[2] = false;
                asleep[3] = false
            }
        :: else -> break
        fi
    od;
    assert(finished == N || (LATE == 0 && EXCUSED));
    assert(inside == 0)
}
