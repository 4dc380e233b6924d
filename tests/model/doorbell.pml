/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Requests that wait for a process, the children and the spawner that give
 * them one, and the doorbell of the spawner. Each of them may be killed between
 * any two steps.
 *
 * There is one process, and it serves one request at a time. A step (`atomic`)
 * is one access to shared memory, and the conclusions from it:
 *
 *     model          code
 *     enter ...      pool.pml: the work under the lock
 *     ask            apl_checkout(): the request has the process; or it waits,
 *                    and perhaps a start is ordered
 *     wait           apl_checkout_wait(): wake word, poll, sleep. FUTEX_WAIT
 *                    compares and queues in one step
 *     close          apl_checkin(), also for a request that gives up, and
 *                    take_failure()
 *     spawner        turn(): drain the doorbell, look for dead children
 *                    (apl_child_watch_gone()), tick, take the order,
 *                    report it ready or failed
 *
 * A slice of sleep may end at any moment, EARLY times in each child. When
 * nothing else can happen, all slices end, LATE times. What is proved:
 *
 *     always         at most one request has the process. The slot of a living
 *                    child stays its own. In the end no slot is lost, and no
 *                    dead child has one
 *     KILLS=0 LATE=0 each request gets its outcome: no wake-up, no ring and no
 *                    hand-off is lost; also with EARLY, FAILS and GIVE_UP
 *     KILLS=1 LATE=1 each request of a living child gets its outcome, within
 *                    one slice
 *     KILLS=1 LATE=0 a child sleeps on in one case only (`excused`): the
 *                    process that stored its outcome died before the wake
 *
 * The spawner is killed like any child, and a new one starts.
 * M_* are mistakes. tests/model/run wants Spin to find each. */

#include "pool.pml"

#ifdef M_NO_EXCUSE
#define EXCUSED false
#else
#define EXCUSED excused
#endif

#define UNTOUCHED (at != 0 && slot[at].owner == me)

proctype child(byte me)
{
    byte at, to, seen, requests, early;
    bool note[4];
    bool mend, ring, had;

    {
        early = EARLY;
ask:
        atomic {
            if
            :: requests == REQUESTS -> goto end
            :: else -> requests++
            fi
        };
        enter();
        atomic {
            if
            :: top >= 1 && IS(1, FREE) -> at = 1
            :: top >= 2 && IS(2, FREE) -> at = 2
            :: top >= 3 && IS(3, FREE) -> at = 3
            :: top < SLOTS -> top++; at = top
            :: else -> at = 0
            fi;
            if
            :: at != 0 ->
                slot[at].owner = me;
                tickets++;
                slot[at].ticket = tickets
            :: else
            fi
        };
        atomic {
            if
            :: at == 0 /* APL_EFULL */
            :: at != 0 && READY && !ANY(WAITING) ->
                slot[at].state = HELD;
                to = at
            :: else -> slot[at].state = WAITING
            fi
        };
        atomic {
            if
            :: to != 0 -> busy = true; to = 0
            :: else
            fi
        };
        atomic {
            if
            :: at != 0 && process == NONE ->
                process = WANTED;
#ifndef M_NO_RING
                ring = true
#endif
            :: else
            fi
        };
        leave();
        if
        :: at == 0 -> goto ask
        :: else
        fi;
#ifdef M_POLL_FIRST
wait:
        atomic {
            assert(UNTOUCHED);
            if
            :: IS(at, HELD) -> goto use
            :: IS(at, FAILED) -> goto close
            :: IS(at, WAITING)
            fi
        };
        seen = slot[at].wake_word;
#else
wait:
        seen = slot[at].wake_word;
        atomic {
            assert(UNTOUCHED);
            if
            :: IS(at, HELD) -> goto use
            :: IS(at, FAILED) -> goto close
            :: IS(at, WAITING)
            fi
        };
#endif
        atomic {
            if
            :: GIVE_UP && me == 1 -> goto close
            :: true
            fi
        };
        /* sleep */
        atomic {
            if
#ifdef M_NO_COMPARE
            :: true -> slot[at].asleep = true
#else
            :: slot[at].wake_word == seen -> slot[at].asleep = true
            :: else -> slot[at].asleep = false
#endif
            fi;
            seen = 0
        };
        atomic {
            if
            :: !slot[at].asleep
            :: slot[at].asleep && early > 0 -> slot[at].asleep = false; early--
            fi;
            goto wait
        };
use:
        atomic {
            assert(user == 0);
            user = me;
            seen = 0
        };
        user = 0;
close:
        enter();
        atomic {
            assert(UNTOUCHED && !IS(at, FREE));
            had = IS(at, HELD);
            slot[at].state = FREE;
            seen = 0;
            at = 0
        };
        atomic {
            if
            :: had -> busy = false; had = false
            :: else
            fi
        };
        serve();
        leave();
        goto ask;
end:
        skip
    } unless {
        killed[me]
    };
    atomic {
        finished++;
        done[me] = true;
        at = 0;
        to = 0;
        seen = 0;
        requests = 0;
        early = 0;
        mend = false;
        ring = false;
        had = false;
        note[1] = false;
        note[2] = false;
        note[3] = false
    }
}

#ifdef M_NO_RECLAIM
#define LOST(c) false
#else
#define LOST(c) (c <= CHILDREN && killed[c] && !reported[c])
#endif

/* Take back all slots of a dead child. */
inline child_gone()
{
    enter();
    at = 1;
    do
    :: at <= SLOTS ->
        atomic {
            if
            :: !IS(at, FREE) && slot[at].owner == gone ->
                had = IS(at, HELD);
                slot[at].state = FREE
            :: else
            fi;
            at++
        };
        if
        :: had -> busy = false; had = false; serve()
        :: else
        fi
    :: else -> break
    od;
    atomic {
        reported[gone] = true;
        gone = 0;
        at = 0
    };
    leave()
}

proctype spawner(byte me)
{
    byte at, to, gone, fails;
    bool note[4];
    bool mend, ring, had;

begin:
    {
        goto turn; /* the first turn does not wait */
end:
        atomic {
            if
            :: rung
            :: LOST(1) || LOST(2) || LOST(3)
            :: process == STARTING /* it becomes ready, or was adopted */
            :: second -> second = false
            fi
        };
turn:
#ifndef M_DRAIN_LAST
        rung = false;
#endif
        do
        :: LOST(1) -> gone = 1; child_gone()
        :: LOST(2) -> gone = 2; child_gone()
        :: LOST(3) -> gone = 3; child_gone()
        :: else -> break
        od;
        /* The tick. */
        enter();
        serve();
        atomic {
            if
            :: process == NONE && ANY(WAITING) -> process = WANTED
            :: else
            fi
        };
        leave();
        /* Orders. The first look needs no lock. */
        if
        :: process == WANTED ->
            enter();
            process = STARTING;
            leave()
        :: else
        fi;
#ifdef M_DRAIN_LAST
        rung = false;
#endif
        /* Does the start succeed? */
        if
        :: process == STARTING ->
            enter();
            if
            :: process = LIVE; serve()
            :: fails < FAILS ->
                fails++;
                process = NONE;
                do
                :: atomic { FIRST(1) -> settle(1, FAILED) }; mark(FAILED)
                :: atomic { FIRST(2) -> settle(2, FAILED) }; mark(FAILED)
                :: atomic { FIRST(3) -> settle(3, FAILED) }; mark(FAILED)
                :: else -> break
                od
            fi;
            leave()
        :: else
        fi;
        goto end
    } unless {
        atomic {
            killed[me] -> killed[me] = false;
            at = 0;
            to = 0;
            gone = 0;
            mend = false;
            ring = false;
            had = false;
            note[1] = false;
            note[2] = false;
            note[3] = false;
            goto begin
        }
    }
}

proctype killer()
{
    byte left = KILLS, who;

    do
    :: left > 0 ->
        left--;
        select(who : 1 .. SPAWNER);
        atomic {
            if
            :: who == SPAWNER || !done[who] ->
                killed[who] = true;
                if
                :: lock == who -> lock = 0; died = true
                :: else
                fi;
                if
                :: owing[who] -> excused = true; owing[who] = false
                :: else
                fi;
                if
                :: user == who -> user = 0
                :: else
                fi
            :: else
            fi;
            who = 0
        }
    :: left == 0 -> break
    od
}

init {
    byte i, slices;

    atomic {
        for (i : 1 .. CHILDREN) {
            run child(i)
        };
        run spawner(SPAWNER);
        if
        :: KILLS > 0 -> run killer()
        :: else
        fi;
        i = 0
    };
    do
    :: timeout ->
        if
        :: slices < LATE && finished < CHILDREN ->
            atomic {
                slices++; /* each sleep has lasted its slice */
                second = true;
                slot[1].asleep = false;
                slot[2].asleep = false;
                slot[3].asleep = false
            }
        :: else -> break
        fi
    od;
    assert(finished == CHILDREN || (LATE == 0 && EXCUSED));
    assert(finished < CHILDREN || (!ANY(WAITING) && !ANY(FAILED)));
    assert(finished < CHILDREN || !ANY(HELD));
    assert(lock == 0)
}
