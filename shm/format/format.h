/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file format.h
 * @brief THE FORMAT: every byte of the segment, and what must be true about it.
 *
 *     0           +-----------------------------------------------+
 *                 | apl_header_t    lock, counters, list heads,   |
 *                 |                 hash of group names, events,  |
 *                 |                 history                       |
 *     groups      +-----------------------------------------------+
 *                 | apl_group_t     [n_groups]      1600 bytes    |
 *     processes   +-----------------------------------------------+
 *                 | apl_process_t   [n_processes]    256 bytes    |
 *     sessions    +-----------------------------------------------+
 *                 | apl_session_t   [n_sessions]     256 bytes    |
 *     children    +-----------------------------------------------+
 *                 | apl_child_t     [n_children]      64 bytes    |
 *     lines       +-----------------------------------------------+
 *                 | apl_stderr_t    [256]           2048 bytes    |
 *     scratch     +-----------------------------------------------+
 *                 | uint64_t        for the time of a sort only   |
 *     numbers     +-----------------------------------------------+
 *                 | apl_numbers_t   [n_groups]      8192 bytes    |
 *     size        +-----------------------------------------------+
 *
 * `numbers` begins with a page. The kernel stores no page of it before the
 * application of that index has had a request.
 *
 * The slots are the truth: the fields marked [T] below. One store of its
 * `state` commits a slot, after the fields that give the state its meaning. All
 * other fields, marked [D], are derived: lists and counts, which repair.c
 * rebuilds from the slots. So a process may die between any two stores. Outside
 * the lock, the child that has a session writes to its slot, and to that of its
 * process, but only the fields marked [O].
 *
 * The segment contains no pointer. A list link is a byte offset from its start.
 * A record is named by its index (and generation, where the slot may have been
 * reused). Both are checked each time they are followed. Index 0 of each slot
 * array is never used, so 0 means none.
 *
 * Life of a process slot (commit by `state`):
 *
 *     FREE -> WANTED -> STARTING -> LIVE -> LEAVING -> FREE
 *      ^        |          |                  ^  |
 *      +--------+----------+ failed           |  | really gone
 *                          +------------------+  | (restart while it boots)
 *
 * Life of a session slot: FREE -> [WAITING ->] OPEN -> FREE, or
 * WAITING -> FAILED -> FREE when the app could not be started.
 *
 * The invariants. check.c checks them: after each verb in the test builds,
 * every two seconds in the spawner, and in `apppoolctl check`. One check cannot
 * show I2, which allows something. It cannot show invariants about the past
 * either: I11 and I12 (a limit may have been lowered), I13 and I15.
 * invariants_over_time.c and same.c in tests/unit check these after each verb.
 * I7 is I3 and I8 together. "Live" = state LIVE, "busy" = live with sessions >
 * 0.
 *
 *  I1  A group is reachable from the hash by its own name. A live process is in
 *      the list `processes` of the group that it names, and in no other.
 *  I2  A used group may have no process.
 *  I3  Idle before busy: `idle` holds exactly the group's live processes
 *      without sessions; `order` (a heap by sessions, then age) the busy ones
 *      with room (apl_group_limit()).
 *  I4  group.size == |processes|.
 *  I5  A process that is leaving is in no list but pool.leavers.
 *  I6  group.spawning == its WANTED and STARTING slots.
 *  I7  sessions == 0 and live  <=>  in pool.inactive (and in group.idle).
 *  I8  |inactive| == count - active, 0 <= active <= count.
 *  I9  Sum of group.size == count.
 *  I10 process.sessions == number of OPEN sessions that name it.
 *  I11 count + spawning - replacing <= max + credit, and count + spawning is at
 *      most one above that. There are four exceptions: max was lowered, a hung
 *      process recovered, a process died while it replaced another, or a try
 *      above the limit became live, or its trial ended (I21). An exception ends
 *      when a process is idle that can leave.
 *  I12 size + spawning <= max_instances + the group's credit, or one above it
 *      while a process is replaced. There are two exceptions: the limit was
 *      lowered, or a hung process recovered.
 *  I13 A generation never goes back.
 *  I14 group.waiting == |queue| == its WAITING sessions; pool.waiting is
 *      their sum; a waiter is in exactly one queue, in order of its ticket.
 *  I15 processed and last_used never go back.
 *  I16 pool.spawning == sum of group.spawning.
 *  I17 A WAITING, OPEN or FAILED session has a child in the slot array. Or it
 *      is OPEN and abandoned, and its process is in the slot array.
 *  I18 Lists are circular in both directions; each slot is in a state of its
 *      array, and free or reachable, in exactly one list of its kind. A group
 *      whose processes are all hung has its turn in `unserved`, not `growing`.
 *  I19 No request waits in vain: no group has both a waiter and a process that
 *      could take it.
 *  I20 A group has its turn in `unserved` if all this is true: it has waiters,
 *      it is in good health, it is not drained, it is below its limit, it has
 *      no start, and all its processes are hung. While a group has its turn
 *      there, there is no room and no idle process, unless max was lowered.
 *  I21 group.outdated == its live processes of another revision;
 *      pool.replacing == WANTED and STARTING slots that are to replace one, or
 *      are the tries of groups whose starts fail, and LIVE ones on trial. After
 *      an early end (policy/backoff.h), a try above the limit is on trial until
 *      its start is a success. A group in pool.above has its turn for the one
 *      place above the limit, and loses the turn if it cannot start then.
 *  I22 group.hung == its live processes that are marked hung, all of which have
 *      a session; pool.hung is their sum. A group's credit is the smaller one
 *      of hung and hung_extra, or 0 where spawn_if_under is 0; pool.credit is
 *      their sum.
 *  I23 group.unkillable == its leaving processes that are marked so.
 *  I24 process.abandoned == number of abandoned sessions that name it;
 *      pool.abandoned is their sum.
 *  I25 group.sessions == sessions that name it and are not FREE; group.leaving
 *      == its LEAVING processes. So no walk is needed to know whether anything
 *      in the pool still names a group that is to be forgotten.
 *  I26 child.sessions == sessions that it owns and that are not FREE.
 *  I27 process.connection has one of three states. If a connection is parked,
 *      it has a serial, which is not 0.
 *
 * Times are microseconds of CLOCK_MONOTONIC (alive for the host's uptime, the
 * same in every process). Counters never wrap in practice (64 bit).
 *
 * Lock:  the header's lock guards all but [O].
 * Crash: see above.
 * Trust: any httpd child can write anything here at any time.
 */
#ifndef APPPOOL_SHM_FORMAT_FORMAT_H
#define APPPOOL_SHM_FORMAT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "shm/format/needs.h"

/* ---- types of fields ---- */

/** A link of a circular list, or its head: offsets of links, in bytes. */
typedef struct {
    uint32_t next, prev;
} apl_link_t;

/** Children of a heap node and its parent: indexes of processes. */
typedef struct {
    uint32_t left, right, parent;
} apl_node_t;

/** A process of the operating system. A pid alone does not identify it. */
typedef struct {
    int32_t pid;
    uint32_t unused;
    uint64_t start; /**< clock ticks since boot, /proc/PID/stat field 22 */
} apl_identity_t;

/** The options of a group: a copy of the parent's configuration. */
typedef struct {
    uint32_t config;          /**< configuration generation it comes from */
    uint32_t min_instances;   /**< kept when the group was used once */
    uint32_t max_instances;   /**< 0: only the limit of the pool */
    uint32_t max_requests;    /**< 0: no limit */
    uint32_t jitter;          /**< so many more sessions per process */
    uint32_t concurrency;     /**< per process; 0: no limit; AUTO: its own */
    uint32_t max_queue;       /**< waiting requests; more are refused */
    uint32_t global_queue;    /**< 0: each process has a queue of its own */
    uint32_t rolling;         /**< 1: a restart replaces, one by one */
    uint32_t spawn_if_under;  /**< go above limits if fewer are not hung */
    uint32_t hung_extra;      /**< maximum of hung ones that do not count */
    uint32_t unkillable_stop; /**< with so many, no start; 0: no limit */
    int64_t idle_time;        /**< us; 0: idle processes stay */
    int64_t check_interval;   /**< us between two checks of restart.txt */
    int64_t hung_after;       /**< us a request may take; 0: for ever */
    int64_t kill_after;       /**< us until its process is ended; 0: never */
} apl_options_t;

/** A stamp of restart.txt: a number that is another one for another file, and
 * after each change of the file (policy/restart.h). It says nothing about which
 * of two files is the newer one. */
enum {
    APL_STAMP_UNKNOWN, /**< nobody has looked */
    APL_STAMP_NO_FILE
};

/** What httpd has seen of the two files. */
typedef struct {
    uint64_t file;   /**< stamp of restart.txt */
    uint32_t always; /**< always_restart.txt is there */
    uint32_t unused;
} apl_stamp_t;

enum { APL_LISTEN_FD, APL_LISTEN_UNIX, APL_LISTEN_TCP };
enum { APL_HTTP, APL_FCGI, APL_SCGI, APL_UWSGI, APL_AUTO };
#define APL_CONCURRENCY_AUTO UINT32_MAX /* what is found in AppRoot decides */

/** How a process is reached: endpoint and wire protocol, as it was started. */
typedef struct {
    uint16_t listen;      /**< APL_LISTEN_* */
    uint16_t protocol;    /**< APL_HTTP ...; AUTO until it is found */
    uint32_t port;        /**< APL_LISTEN_TCP */
    uint32_t concurrency; /**< it is made for; 0: any; AUTO until found */
} apl_wire_t;

/** What the spawner knows of a process that it has started. */
typedef struct {
    apl_identity_t identity;
    apl_wire_t wire;
    uint64_t stamp; /**< of restart.txt, before its command was executed, or
                         that of its template; UNKNOWN until then */
} apl_start_t;

/* ---- statistics ----
 *
 * They serve only the views. No decision depends on them, and after a crash a
 * count may be off by one. */

#define APL_HISTOGRAM_BOUNDS 15

/** How long something took; since the group exists. */
typedef struct {
    /** How often it took longer than the bound before, and not longer than
     * this one (histogram.h); the last has no bound. */
    uint64_t counts[APL_HISTOGRAM_BOUNDS + 1];
    uint64_t sum; /**< us */
} apl_histogram_t;

enum {
    APL_EVENT_NONE,
    APL_EVENT_READY,
    APL_EVENT_START_FAILED,
    APL_EVENT_DIED,
    APL_EVENT_EXITED,
    APL_EVENT_IDLE,
    APL_EVENT_EVICTED,
    APL_EVENT_RETIRED,
    APL_EVENT_RESTART,
    APL_EVENT_REFUSED,
    APL_EVENT_DETACHED,
    APL_EVENT_TRIMMED,
    APL_EVENT_REMOVED,
    APL_EVENT_CHILD_DIED,
    APL_EVENT_REPAIRED,
    APL_EVENT_HUNG,
    APL_EVENT_UNHUNG,
    APL_EVENT_KILLED,
    APL_EVENT_UNKILLABLE,
    APL_EVENT_DRAINED,
    APL_EVENTS
};

/** Something an operator may want to know. */
typedef struct {
    int64_t time;
    uint64_t id; /**< of the process; 0: none */
    uint32_t kind;
    int32_t pid;
    char app[72];      /**< the end of the group's name */
    uint64_t error_id; /**< of a start that failed; in the log too; 0: none */
    char reason[120];  /**< of a start that failed, or a death; "": none */
} apl_event_t;

#define APL_EVENT_MAX 64

/** Counted since the segment exists. */
typedef struct {
    uint64_t requests;     /**< sessions that got a process */
    uint64_t waits;        /**< requests that had to wait */
    uint64_t handoffs;     /**< processes given to a waiter */
    uint64_t queue_full;   /**< refused: AppMaxQueue */
    uint64_t timeouts;     /**< refused: AppQueueTimeout */
    uint64_t gone;         /**< clients that left while they waited */
    uint64_t spawned;      /**< processes that became live */
    uint64_t failed;       /**< starts that failed */
    uint64_t died;         /**< processes that ended unasked */
    uint64_t refused;      /**< processes detached: they refused to connect */
    uint64_t evicted;      /**< gave way to another group */
    uint64_t idled;        /**< ended by PoolIdleTime */
    uint64_t retired;      /**< ended by MaxRequests */
    uint64_t restarts;     /**< of groups, by restart.txt */
    uint64_t child_deaths; /**< httpd children that left sessions behind */
    uint64_t repairs;      /**< after the lock's owner died or damage */
    uint64_t hung;         /**< processes that became hung */
    uint64_t unhung;       /**< and went on */
    uint64_t killed;       /**< ended because of a request */
    uint64_t unkillable;   /**< processes that survived SIGKILL */
    uint64_t served;       /**< processes given back after a request */
    uint64_t app_time;     /**< us that those had them, in total */
} apl_counters_t;

#define APL_SAMPLE_MAX    121
#define APL_SAMPLE_PERIOD 5000000 /* us: ten minutes in all */

/** The values of the counters at one moment. */
typedef struct {
    int64_t time;
    uint64_t requests, served, app_time;
    uint32_t busy;    /**< processes, at `time` */
    uint32_t waiting; /**< requests: maximum since the last sample */
} apl_sample_t;

#define APL_STDERR_MAX  256
#define APL_STDERR_TEXT 2032 /* bytes */

/** Lines that an app has sent to a child of httpd, on their way to its log. */
typedef struct {
    uint64_t id;     /**< of the process */
    uint32_t size;   /**< bytes of text: lines, each with its newline */
    uint32_t logged; /**< 1: the child has written them to the error log */
    char text[APL_STDERR_TEXT];
} apl_stderr_t;

/* ---- numbers of an application ----
 *
 *     0           +-----------------------------------------------+
 *                 | counted by children: generation, began,       |
 *                 | responses, bytes, faults, times               |
 *     576         +-----------------------------------------------+
 *                 | by the spawner: sampled, cpu, cpu_then        |
 *     640         +-----------------------------------------------+
 *                 | apl_moment_t    [3][4]           456 bytes    |
 *     6112        +-----------------------------------------------+
 *                 | apl_death_t     [8]               48 bytes    |
 *     6496        +-----------------------------------------------+
 *                 | apl_step_t      [30]              56 bytes    |
 *     8176        +-----------------------------------------------+
 *                 | 16 bytes that are not used                    |
 *     8192        +-----------------------------------------------+
 *
 * All of it is [O], except the deaths, which are counted under the lock.
 * slots/numbers.h says which program writes what, and why no count is lost when
 * a writer is killed. */

/** Classes of times: one below 64 us, four in each octave up to 71 minutes, and
 * one above (format/timing.h). */
#define APL_TIMES   106

/** Classes of responses: 1xx to 5xx. */
#define APL_CLASSES 5

/** Why the module itself has responded to a request with an error. */
enum {
    APL_FAULT_NONE,
    APL_FAULT_QUEUE_FULL,
    APL_FAULT_QUEUE_TIMEOUT,
    APL_FAULT_START_FAILED,
    APL_FAULT_DIED,
    APL_FAULT_KILLED,
    APL_FAULT_BAD_RESPONSE,
    APL_FAULT_OTHER,
    APL_FAULTS
};

#define APL_STEP_PERIOD 20000000 /* us: the spawner looks that often */
#define APL_STEPS       30       /* ten minutes in all */
#define APL_WINDOWS     3        /* one, five and sixty minutes */
#define APL_MOMENTS     4        /* of each window */
#define APL_DEATHS      8        /* different reasons that are kept */

/** What the children had counted at one moment, modulo 2^32. */
typedef struct {
    int64_t time; /**< us; 0: there is none, or it is being written */
    uint32_t responses[APL_CLASSES];
    uint32_t times[APL_TIMES];
    uint32_t unused;
} apl_moment_t;

/** How processes of an application have died. */
typedef struct {
    int64_t last; /**< us: the last one; 0: there is none */
    uint32_t count;
    char reason[36]; /**< NUL-terminated; "": not known */
} apl_death_t;

#define APL_MEMORY_UNKNOWN UINT32_MAX
#define APL_TIME_NONE      APL_TIMES /* in a step: there was no request */

/** An application in one step of its last ten minutes. */
typedef struct {
    int64_t time;      /**< us: its end; 0: none, or it is being written */
    uint32_t span;     /**< ms since the step before */
    uint32_t requests; /**< responses in this step; those of 2xx to 5xx: */
    uint32_t responses[APL_CLASSES - 1];
    uint32_t queue;  /**< waiting requests at most */
    uint32_t cpu;    /**< ms that its processes have used */
    uint32_t memory; /**< KiB, at `time`; or APL_MEMORY_UNKNOWN */
    uint16_t idle, busy, hung, starting; /**< processes, at `time` */
    uint8_t percentiles[3]; /**< 50, 95, 99: classes; or APL_TIME_NONE */
    uint8_t unused;
} apl_step_t;

/** The numbers of the application in the group slot of the same index. */
typedef struct {
    uint32_t generation; /**< of the group that they are about */
    uint32_t unused;
    int64_t began; /**< us: the first count */
    uint64_t responses[APL_CLASSES];
    uint64_t bytes;                  /**< of responses, as they were sent */
    uint64_t faults[APL_FAULTS - 1]; /**< responses: our own errors */
    uint64_t padding1;
    uint32_t times[APL_TIMES]; /**< queue and application together */
    uint32_t padding2[6];

    int64_t sampled;   /**< us: the last step */
    uint64_t cpu;      /**< us that its processes have used, dead ones, too */
    uint64_t cpu_then; /**< `cpu` at `sampled` */
    uint64_t padding3[5];

    apl_moment_t moments[APL_WINDOWS][APL_MOMENTS];
    apl_death_t deaths[APL_DEATHS];
    apl_step_t steps[APL_STEPS];
    char padding4[16];
} apl_numbers_t;

#define APL_NUMBERS_ALIGNMENT 4096 /* bytes: a page */

/* ---- the slots ---- */

enum { APL_GROUP_FREE, APL_GROUP_USED };

enum {
    APL_PROCESS_FREE,   /**< free */
    APL_PROCESS_WANTED, /**< reserved; the spawner has yet to take the order */
    APL_PROCESS_STARTING, /**< the spawner has it: being forked, or booting */
    APL_PROCESS_LIVE, /**< it takes requests; idle or busy by its sessions */
    /** Detached: gets no new session, ends when the open ones are closed. */
    APL_PROCESS_LEAVING,
    APL_PROCESS_STATES
};

enum {
    APL_SESSION_FREE,
    APL_SESSION_WAITING, /**< in its group's queue */
    APL_SESSION_OPEN,    /**< its owner has the process it names */
    /** Its wait ended without a process. The owner does not know it yet. */
    APL_SESSION_FAILED,
    APL_SESSION_STATES
};

enum { APL_CHILD_FREE, APL_CHILD_USED };

#define APL_NAME_MAX  256
#define APL_ERROR_MAX 160

enum { APL_TEMPLATE_NONE, APL_TEMPLATE_LOADING, APL_TEMPLATE_READY };

/** The template of an application, for the status, for what a change of
 * restart.txt means, and for the number of starts at a time. */
typedef struct {
    int32_t pid;
    uint32_t state;  /**< APL_TEMPLATE_* */
    int64_t started; /**< us */
    uint64_t forked; /**< processes that it has forked */
    uint64_t code;   /**< group.n_restarts when it began to load */
    uint64_t stamp;  /**< of restart.txt, before it began to load */
} apl_template_t;

#define APL_SLOW_START_MAX 240

/** A start that lasts long: what is known of it so far
 * (verbs/group_start.h). */
typedef struct {
    uint64_t id;   /**< of the process or the template; in the log too; 0: no
                        start lasted long yet */
    int64_t since; /**< us: when it began */
    char text[APL_SLOW_START_MAX]; /**< what is missing, in a sentence */
} apl_slow_start_t;

/** An application: its processes, and the requests that wait for one. */
typedef struct {
    uint32_t state;        /**< [T] */
    uint32_t generation;   /**< [T] goes up each time the slot is taken */
    uint64_t key;          /**< [T] hash of name */
    apl_options_t options; /**< [T] */

    apl_link_t processes; /**< [D] head: live ones, oldest first */
    apl_link_t idle;      /**< [D] head: without session, last used first */
    apl_link_t queue;     /**< [D] head: waiting sessions, oldest first */
    apl_link_t turn;      /**< [D] link in pool.unserved or pool.growing */
    apl_link_t bucket;    /**< [D] link in its hash bucket or the free list */
    uint32_t order;       /**< [D] root of the heap of busy ones with room */
    uint32_t size;        /**< [D] live processes */
    uint32_t spawning;    /**< [D] wanted and starting ones */
    uint32_t waiting;     /**< [D] sessions in queue */
    uint32_t used;        /**< [T] 1: was used, so its minimum is kept */
    uint32_t failures;    /**< [T] failed starts in a row; 0: healthy */
    int64_t retry_at;     /**< [T] no start before; meaningful with failures */
    uint64_t error_id;    /**< [T] of the last failed start; in the log too */

    uint32_t stamp_seq; /**< [T] goes up whenever `stamp` is stored */
    uint32_t retired;   /**< [T] 1: gone from the configuration */
    int64_t stamp_at;   /**< [T] before the last look at restart.txt */
    apl_stamp_t stamp;  /**< [T] what was seen of it */

    /* Since the group exists. */
    uint64_t n_requests, n_spawned, n_failed, n_died, n_restarts;

    uint32_t revision;   /**< [T] of its code: goes up with a rolling restart */
    uint32_t outdated;   /**< [D] live processes of another revision */
    uint32_t young;      /**< [T] early ends in a row: policy/backoff.h */
    uint32_t hung;       /**< [D] live processes that are hung */
    uint32_t unkillable; /**< [D] leaving ones that survive SIGKILL */
    uint32_t drained;    /**< [T] 1: drained: no process, no request */

    apl_histogram_t queue_time; /**< from the request to a process */
    apl_histogram_t app_time;   /**< from there to its end */
    uint32_t sessions;          /**< [D] that name it, in any state but FREE */
    uint32_t leaving;           /**< [D] leaving processes */
    int64_t responded_at;       /**< [T] the last response; 0: none */
    apl_link_t above;           /**< [D] link in pool.above */
    int64_t failed_at;          /**< [T] the last failed start; 0: none */
    apl_template_t template;    /**< [O] written by the spawner */
    int64_t young_at;           /**< [T] the last early end */

    apl_slow_start_t slow_start; /**< [T] written by the spawner */

    int64_t failing_at; /**< [T] the first failed start in a row */
    uint32_t counted;   /**< [O] 1: `numbers` has something about it */
    uint32_t peak;      /**< [T] most that were waiting since the last step; the
                             spawner lowers it without the lock */

    /* 25 cache lines: an odd number, so slots do not share a few cache sets. */
    char padding[32];
    char name[APL_NAME_MAX];   /**< [T] NUL-terminated */
    char root[APL_NAME_MAX];   /**< [T] AppRoot, for people to read */
    char error[APL_ERROR_MAX]; /**< [T] the last failed start in a sentence */
} apl_group_t;

/** One process of an application, or the place reserved for it. */
typedef struct {
    uint32_t state;      /**< [T] */
    uint32_t generation; /**< [T] goes up each time the slot is taken */
    uint64_t id;         /**< [T] random and public; low 16 bits: the index */
    apl_identity_t identity; /**< [T] pid 0 until it is forked */
    uint32_t group;          /**< [T] index */
    uint32_t sessions;       /**< [D] open ones */
    uint64_t processed;      /**< [T] closed ones */
    int64_t started;         /**< [T] when it was wanted, then forked */
    int64_t ready_at;        /**< [T] when it became live */
    int64_t last_used;       /**< [T] a session opened or closed */
    uint64_t birth;          /**< [T] ticket: smaller is older */

    apl_link_t member; /**< [D] in group.processes */
    apl_link_t idle;   /**< [D] in group.idle */
    apl_link_t pool;   /**< [D] in pool.inactive, wanted, leaving or free */
    apl_node_t node;   /**< [D] in group.order */
    apl_wire_t wire;   /**< [T] */
    uint32_t hung;     /**< [T] 1: one of its requests takes too long */
    uint32_t reason;   /**< [T] APL_EVENT_* that made it leave, or will */
    uint32_t revision; /**< [T] the group's when it was started; 0: outdated */
    uint32_t replaces; /**< [T] 1: when it is live, another one leaves */
    uint32_t unkillable; /**< [T] 1: it survives SIGKILL */
    uint32_t abandoned;  /**< [D] sessions that are */
    uint32_t responded;  /**< [T] 1: to a request */
    uint32_t trial;      /**< [T] 1: live, and no success yet: I21 */
    uint64_t stamp;      /**< [T] of restart.txt: apl_start_t */
    char padding[24];
    /* Written outside the lock, so in a cache line of its own. */
    uint64_t connection;   /**< [O] shared: slots/connection_state.h */
    int64_t connection_at; /**< [O] when it became idle */
    apl_identity_t connection_child; /**< [O] the last child that has used it */
    int64_t connection_asked;  /**< [O] for room: slots/connection_room.h */
    uint32_t connections_idle; /**< [O] kept by children, and idle */
    char padding2[20];
} apl_process_t;

/** A request that waits for a process or has one. */
typedef struct {
    uint32_t state;      /**< [T] */
    uint32_t generation; /**< [T] goes up each time the slot is taken */
    uint32_t child;      /**< [T] index of the httpd child; 0, and OPEN: it is
                            abandoned: its client waits no more for the app */
    uint32_t group;      /**< [T] index */
    uint32_t process;    /**< [T] index, of an OPEN one */
    uint32_t process_generation;
    uint32_t wake_word; /**< futex: changes when the wait is over */
    uint32_t outcome;   /**< [T] apr_status_t of a FAILED one */
    uint64_t ticket;    /**< [T] order of arrival */
    int64_t queued;     /**< [T] when it asked */
    int64_t since;      /**< [T] when it got its process */

    apl_link_t link; /**< [D] in group.queue or the free list */

    /* The fields above are one cache line. Repair, check and the locked part of
     * a snapshot touch nothing else. */
    uint64_t id;         /**< [T] of the process, which may be gone */
    uint32_t killed;     /**< [T] 0, or APL_KILLED, ...: session.h */
    uint16_t long_lived; /**< [O] 0, or APL_LONG_LIVED_..., and never hung */
    uint8_t counted;     /**< [O] 1: it counts for AppMaxLongLived */
    uint8_t suspended;   /**< [O] 1: and holds no worker of httpd */
    char method[16];     /**< [O] what follows is text for the status page */
    char client[48];     /**< [O] address */
    char uri[112]; /**< [O] the path, cut off, and its NUL; then the query,
                         where it is asked for, and another */
} apl_session_t;

/** Values of apl_child_t.died, other than 0. */
#define APL_CHILD_EMPTIED 1 /* its sessions are being taken back */
#define APL_CHILD_COUNTED 2 /* and its death is counted */

/** An httpd child. */
typedef struct {
    uint32_t state;          /**< [T] */
    uint32_t generation;     /**< [T] goes up each time the slot is taken */
    apl_identity_t identity; /**< [T] */
    uint32_t sessions;       /**< [D] its WAITING, OPEN and FAILED ones */
    uint32_t config;         /**< [T] configuration generation it serves */
    apl_link_t link;         /**< [D] in the free list */
    uint32_t died;           /**< [T] 0, or APL_CHILD_EMPTIED, ... */
    char padding[20];
} apl_child_t;

/* ---- the header ---- */

#define APL_MAGIC      0x6c6f6f706c706141 /* "Aplpool" */
#define APL_BUCKETS    1024
#define APL_CACHE_LINE 64 /* bytes of a cache line */

typedef struct {
    uint64_t magic;
    uint64_t layout; /**< APL_LAYOUT of the build that made it */
    uint64_t size;   /**< of the segment, bytes */
    uint32_t n_groups, n_processes, n_sessions, n_children;
    uint32_t connection_room; /**< [O] futex: slots/connection_room.h */
    uint32_t out; /**< [O] 1: an administrator has taken the host out */
    uint32_t padding1[4];

    /* What each checkout and checkin touches: two lines. */
    uint32_t lock;            /**< lock.h */
    uint32_t sequence;        /**< odd while a process is inside: snapshot.h */
    uint32_t max;             /**< [T] MaxPoolSize */
    uint32_t count;           /**< [D] live processes */
    uint32_t active;          /**< [D] those with sessions */
    uint32_t spawning;        /**< [D] wanted and starting ones */
    uint32_t waiting;         /**< [D] waiting sessions */
    uint32_t leaving;         /**< [D] leaving processes */
    apl_link_t inactive;      /**< [D] head: processes, longest idle first */
    apl_link_t unserved;      /**< [D] head: turns of unserved groups */
    apl_link_t growing;       /**< [D] head: turns of the other groups */
    apl_link_t sessions_free; /**< [D] head */
    uint64_t ticket;          /**< [T] the last one given out */

    apl_link_t groups_free, processes_free, children_free; /**< [D] heads */
    apl_link_t wanted;  /**< [D] head: places for the spawner, oldest first */
    apl_link_t leavers; /**< [D] head: leaving processes */
    uint32_t top_group, top_process, top_session, top_child;
    /**< no slot above is used. The last free ones of processes and sessions
     * go above it with the tick. */
    uint32_t config;    /**< [T] newest configuration generation */
    uint32_t peak;      /**< [T] most that were waiting since the last sample */
    uint32_t hung;      /**< [D] live processes that are hung */
    uint32_t abandoned; /**< [D] sessions that are */
    uint32_t credit;    /**< [D] sum over groups: hung ones not counted */
    uint32_t replacing; /**< [D] starts that replace one, and trials: I21 */
    uint32_t roll_call; /**< [T] counts damage; not 0: it is due */
    apl_link_t above;   /**< [D] head: groups that want the place above max */

    apl_counters_t counters;
    uint64_t n_events; /**< the next goes to n_events % APL_EVENT_MAX */
    apl_event_t events[APL_EVENT_MAX];
    uint64_t n_samples; /**< as n_events, of APL_SAMPLE_MAX */
    apl_sample_t samples[APL_SAMPLE_MAX];
    uint64_t n_stderr;       /**< as n_events, of APL_STDERR_MAX: put there */
    uint64_t n_stderr_taken; /**< and taken away */
    apl_link_t buckets[APL_BUCKETS]; /**< [D] heads: groups by key */
} apl_header_t;

/* ---- sizes: the layout is a promise between builds ---- */

_Static_assert(sizeof(apl_group_t) == 1600, "group slots are 1600 bytes");
_Static_assert(sizeof(apl_process_t) == 256, "process slots are 256 bytes");
_Static_assert(offsetof(apl_process_t, connection) == 192, "a line of its own");
_Static_assert(sizeof(apl_session_t) == 256, "session slots are 256 bytes");
_Static_assert(offsetof(apl_session_t, id) == APL_CACHE_LINE,
               "lists and counts are made from one line of a session");
_Static_assert(sizeof(apl_child_t) == 64, "child slots are 64 bytes");
_Static_assert(offsetof(apl_header_t, lock) == 64, "the lock opens a line");
_Static_assert(sizeof(apl_histogram_t) == 136, "histograms are 136 bytes");
_Static_assert(sizeof(apl_event_t) == 224, "events are 224 bytes");
_Static_assert(sizeof(apl_sample_t) == 40, "samples are 40 bytes");
_Static_assert(sizeof(apl_stderr_t) == 2048, "lines are 2048 bytes");
_Static_assert(offsetof(apl_numbers_t, faults) == APL_CACHE_LINE &&
                   offsetof(apl_numbers_t, times) == 2l * APL_CACHE_LINE,
               "a request touches three lines");
_Static_assert(offsetof(apl_numbers_t, sampled) == 576 &&
                   offsetof(apl_numbers_t, moments) == 640 &&
                   offsetof(apl_numbers_t, deaths) == 6112 &&
                   offsetof(apl_numbers_t, steps) == 6496,
               "as drawn");
_Static_assert(sizeof(apl_numbers_t) == 8192, "numbers are two pages");

#define APL_FORMAT_VERSION 17
#define APL_LAYOUT                                                             \
    ((uint64_t)APL_FORMAT_VERSION << 48 ^ sizeof(apl_header_t) << 24 ^         \
     offsetof(apl_group_t, name) << 12 ^ offsetof(apl_process_t, node) ^       \
     offsetof(apl_session_t, link) << 4)

#endif
