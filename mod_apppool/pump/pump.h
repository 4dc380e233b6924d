/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file pump.h
 * @brief One thread of each httpd child moves the bytes of all long-lived
 *        connections that no worker holds. It never waits for one of them.
 *
 * A link is such a connection: a socket of a client and one of an app. It
 * belongs to a worker or to the pump, never to both:
 *
 *     link = apppool_pump_add(...)     a worker has it
 *     apppool_pump_give(link)          the pump has it
 *     apppool_pump_take(link)          this worker has it
 *     apppool_pump_remove(link)        it is gone
 *
 * The pump calls link->step() when a socket is ready. The step moves what can
 * be moved without waiting, takes no lock of the pool, and writes no line of a
 * log. When it says that the link ends, or when the link has been silent for
 * too long, the pump touches the link no more, and writes to link->wake. httpd
 * then has a worker come for it, which ends the request. The pump also writes
 * to it now and then, because httpd lets no connection wait for longer than
 * Timeout (suspend.h). Until a worker comes, the pump goes on.
 *
 * Lock:   one mutex of the pump. Each step holds it; give(), take() and
 *         remove() wait for the end of a step, which is some microseconds.
 * Thread: step() runs in the pump's thread, or in that of a worker which waits
 *         for the lock as the pump does; all others are called by workers.
 *         apppool_pump_end() comes when httpd has joined them.
 * Crash:  a child that is killed loses its links. The spawner gives their
 *         sessions back, as those of its workers.
 */
#ifndef MOD_APPPOOL_PUMP_PUMP_H
#define MOD_APPPOOL_PUMP_PUMP_H

#include <apr_pools.h>
#include <stdint.h>

/** A moment at which something has been done that another thread can see, and
 * something else has not. A build for tests may sleep there. */
#ifndef APPPOOL_WINDOW
#define APPPOOL_WINDOW(name) ((void)0)
#endif

/** When a child ends: us until a link ends without a goodbye. */
#define APPPOOL_PUMP_FAREWELL 2000000

/** What a step has to say. */
typedef enum {
    APPPOOL_STEP_WAITS, /**< for one of the sockets */
    APPPOOL_STEP_AGAIN, /**< more can be moved at once; others come first */
    APPPOOL_STEP_ENDS   /**< a worker has to end the link */
} apppool_step_t;

/** Why a worker has the link again. */
typedef enum {
    APPPOOL_LINK_RENEWED, /**< for httpd's Timeout alone: it stays */
    APPPOOL_LINK_ENDED,   /**< its step said so */
    APPPOOL_LINK_SILENT,  /**< nothing was moved for too long */
    APPPOOL_LINK_STOPPED  /**< this child of httpd ends */
} apppool_link_why_t;

/** The first part is set by whoever adds it, and constant. */
typedef struct apppool_link_t {
    int client, app; /**< descriptors */
    int wake;        /**< eventfd */
    int64_t silence; /**< us that nothing may be moved; < 0: any time */
    int64_t renewal; /**< us between two calls for a worker */
    /** @param stops the child ends: say goodbye to the client, and end */
    apppool_step_t (*step)(struct apppool_link_t *link, int stops);
    void *ctx;
    /* For the step. */
    uint32_t client_seen, app_seen; /**< EPOLLIN, ... since it was added */
    int64_t moved; /**< us of apl_now(): set it when bytes were moved */
    /* For whoever has the link. */
    apppool_link_why_t why;
    int64_t renew_at; /**< us of apl_now(): then a worker is to come */
    /* The pump's own. */
    struct apppool_link_t *next, **at, *next_ready;
    int is_given, is_ready, is_dead;
    int is_told; /* that this child ends */
} apppool_link_t;

/** Begin, once in each child. @param max links, at most
 * @return APR_SUCCESS; otherwise this child has no pump, and max() is 0 */
apr_status_t apppool_pump_begin(apr_pool_t *pchild, uint32_t max);

/** May there be one more link? If so, there is room for it until
 * apppool_pump_unreserve(). So there may while the child ends: the link is told
 * at once. On a worker it could stay for as long as its client likes, and so
 * could the child. */
int apppool_pump_reserve(void);
void apppool_pump_unreserve(void);

/** Is it only their number that allows no more links?
 * @return 0; or their number */
uint32_t apppool_pump_full(void);

/** This child takes no more links: httpd is not as we know it. */
void apppool_pump_give_up(void);

/** @return NULL: there are no descriptors or no memory, see errno */
apppool_link_t *apppool_pump_add(const apppool_link_t *set);

void apppool_pump_give(apppool_link_t *link);

/** Does nothing if the pump does not have it. */
void apppool_pump_take(apppool_link_t *link);

/** The caller has it, or has never added it: do one step. It uses memory that
 * all steps share. */
apppool_step_t apppool_pump_step(apppool_link_t *link, int stops);

/** The caller has it, and does not use it any more. Its sockets are still open
 * under the numbers that it has: a copy of a socket lives longer, and the
 * kernel would go on to tell what happens there. */
void apppool_pump_remove(apppool_link_t *link);

/** This child of httpd ends: all links are to end.
 * @param has_workers 0: none is asked to come, and apppool_pump_end() is
 * soon */
void apppool_pump_leave(int has_workers);
int apppool_pump_has_left(void);

/** End the thread. All threads of httpd have ended, or this child crashes.
 * @param end called for each link that is left */
void apppool_pump_end(void (*end)(apppool_link_t *link));

#endif
