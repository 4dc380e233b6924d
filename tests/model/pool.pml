/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The segment, and what the processes of doorbell.pml do under the lock.
 *
 *     model          code
 *     enter          apl_enter(). If the last owner has died, rebuild what is
 *                    derived from the slots, and serve the waiters. What is
 *                    derived is one flag here, `busy`; tests/crash tests its
 *                    parts. lock.pml has the lock itself
 *     leave          apl_leave(): unlock, then wake, then ring
 *     serve          apl_queue_serve()
 *     settle, mark   apl_session_give(), apl_session_fail(): first the state,
 *                    then lists and counts, then apl_wake_change(), and a note
 *                    to wake the waiter
 *
 * A process type that includes this file has me, to, note[], mend and ring. */

#ifndef CHILDREN
#define CHILDREN 2
#endif
#ifndef REQUESTS
#define REQUESTS 1 /* of each child, one after the other */
#endif
#ifndef SLOTS
#define SLOTS 2
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
#ifndef FAILS
#define FAILS 0
#endif
#ifndef GIVE_UP
#define GIVE_UP 0 /* the first child may give up whenever it looks */
#endif

#define SPAWNER (CHILDREN + 1)

mtype = { FREE, WAITING, HELD, FAILED };     /* sessions */
mtype = { NONE, WANTED, STARTING, LIVE };    /* the process */

typedef slot_t {
    mtype state = FREE;
    byte owner, ticket, wake_word;
    bool asleep; /* the owner sleeps on the wake word */
};

/* The segment */
byte lock;   /* who has it */
bool died;   /* FUTEX_OWNER_DIED */
slot_t slot[4];
mtype process = NONE;
bool busy;   /* process.sessions, idle lists: derived */
byte tickets, top;

bool rung;   /* the eventfd */
bool second; /* the spawner's wait has ended by the clock */
bool killed[5], reported[5];

/* Only the claims look at these. */
byte user;      /* the child that talks to the process */
bool owing[5];  /* has stored an outcome, but not yet woken its owner */
bool excused;
byte finished;  /* children whose requests have ended, or that died */
bool done[5];

#define IS(i, what) (slot[i].state == what)
#define ANY(what)   (IS(1, what) || IS(2, what) || IS(3, what))
#define READY       (process == LIVE && !busy)
#define BEFORE(i, j)                                                           \
    (!IS(j, WAITING) || slot[i].ticket <= slot[j].ticket)
#define FIRST(i)                                                               \
    (IS(i, WAITING) && BEFORE(i, 1) && BEFORE(i, 2) && BEFORE(i, 3))

inline enter()
{
    atomic {
        lock == 0 -> lock = me;
        mend = died;
        died = false;
#ifdef M_NO_MEND
        mend = false
#endif
    };
    if
    :: mend -> busy = ANY(HELD); serve()
    :: else
    fi
}

/* apl_session_give(), apl_session_fail(): the outcome, then the wake word. */
inline settle(i, outcome)
{
    to = i;
#ifndef M_MARK_FIRST
    slot[to].state = outcome;
#else
    slot[to].wake_word++;
#endif
    owing[me] = true
}

inline mark(outcome)
{
    atomic {
        if
        :: to != 0 && outcome == HELD -> busy = true
        :: else
        fi
    };
    atomic {
        if
        :: to != 0 ->
            note[to] = true;
#ifdef M_MARK_FIRST
            slot[to].state = outcome;
#else
#ifndef M_NO_MARK
            slot[to].wake_word++;
#endif
#endif
            to = 0
        :: else
        fi
    }
}

/* The head of the queue gets the process. There is one process, so once is
 * enough. */
inline serve()
{
    atomic {
        if
        :: READY && FIRST(1) -> settle(1, HELD)
        :: READY && FIRST(2) -> settle(2, HELD)
        :: READY && FIRST(3) -> settle(3, HELD)
        :: else
        fi
    };
    mark(HELD)
}

inline leave()
{
    atomic {
        lock = 0;
        mend = false
    };
    do
    :: atomic { note[1] -> slot[1].asleep = false; note[1] = false }
    :: atomic { note[2] -> slot[2].asleep = false; note[2] = false }
    :: atomic { note[3] -> slot[3].asleep = false; note[3] = false }
    :: atomic {
            !note[1] && !note[2] && !note[3] -> owing[me] = false;
            rung = rung || ring;
            ring = false
        };
        break
    od
}
