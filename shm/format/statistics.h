/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file statistics.h
 * @brief The part of the format (format.h) that serves only the views:
 *        counters, events, the times of requests, the history, and lines for
 *        logs.
 *
 * Lock:  the header's lock guards all of it.
 * Crash: a count may be off by one; nothing is derived from it.
 * Trust: no decision depends on it.
 */
#ifndef APPPOOL_SHM_FORMAT_STATISTICS_H
#define APPPOOL_SHM_FORMAT_STATISTICS_H

#include <stdint.h>

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

_Static_assert(sizeof(apl_histogram_t) == 136, "histograms are 136 bytes");
_Static_assert(sizeof(apl_event_t) == 224, "events are 224 bytes");
_Static_assert(sizeof(apl_sample_t) == 40, "samples are 40 bytes");
_Static_assert(sizeof(apl_stderr_t) == 2048, "lines are 2048 bytes");

#endif
