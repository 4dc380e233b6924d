/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Requests that wait for a process, those who give them one, and the bell of
 * the spawner; everybody may be killed between any two steps.
 *
 * There is one process, which one request at a time may have. A step
 * (`atomic`) is one access to what others see, and what is concluded from it:
 *
 *     model          code
 *     enter ...      pool.pml: what is done with the lock held
 *     ask            apl_checkout(): held, or waiting and maybe a start wanted
 *     wait           apl_checkout_wait(): bell, poll, sleep; FUTEX_WAIT
 *                    compares and queues in one
 *     close          apl_checkin(), also of one who gives up, and
 *                    take_failure()
 *     spawner        turn(): drain the bell, look for dead children
 *                    (apl_child_watch_gone()), tick, take the order,
 *                    report it ready or failed
 *
 * A slice of sleep ends EARLY times in each child whenever it likes; and LATE
 * times, when nothing else can happen, all slices end. Proved:
 *
 *     always         one request has the process; a living one's slot stays
 *                    its own. In the end no slot is lost, and nothing is left
 *                    with the dead
 *     KILLS=0 LATE=0 each request has its outcome: no wake-up, no ring and no
 *                    hand-off is lost; also with EARLY, FAILS and GIVE_UP
 *     KILLS=1 LATE=1 each request of one who lives has its outcome, within one
 *                    slice
 *     KILLS=1 LATE=0 somebody sleeps on in one case only (`excused`): who had
 *                    stored his outcome died before the wake
 *
 * The spawner is killed like any other, and a new one comes.
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
        seen = slot[at].bell;
#else
wait:
        seen = slot[at].bell;
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
            :: slot[at].bell == seen -> slot[at].asleep = true
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

/* Everything of a dead child's is given back. */
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
        goto turn; /* the first does not wait */
end:
        atomic {
            if
            :: rung
            :: LOST(1) || LOST(2) || LOST(3)
            :: process == STARTING /* it becomes ready; or was adopted */
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
        /* Orders. A look without the lock, first. */
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
        /* What became of it. */
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
                slices++; /* each sleep has been long enough */
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
