/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file retained.h
 * @brief What one build of the module leaves for the next one: THE CONTRACT
 *        BETWEEN BUILDS.
 *
 * httpd unloads its modules with each configuration and loads them again,
 * perhaps as another build. What has to stay is in httpd's own memory, in one
 * struct for each instance: a segment, a runtime directory, a watchdog.
 * APPPOOL_RETAINED finds the newest instance, and `older` leads to the others.
 *
 * The next build may be any build, also an older one. So the fields below never
 * change. New ones come at the end, and `size` says which ones the writer knew.
 * No pointer leads into a module.
 *
 * A build continues with the newest instance if `build` is its own. Else it
 *
 *   - gives it up, after it has told the old store to end: closes `life`.
 *     Before, it keeps `life` and `memory` from processes that are forked.
 *     When the last child that has both is gone, the watchdog ends
 *     everything of the instance, and then itself;
 *   - starts its watchdog again if that dies otherwise: `program`, with
 *     `name` and `runtime` as arguments, and fds[i] as descriptor 3 + i;
 *   - may take its store over, if it knows `store_format`: a store of its own
 *     gets copies of store_items and of the mailbox. When it has written all
 *     its tables, it removes m/table in `runtime`, and rings store_bell. The
 *     old store ends then. The new one waits for a lock (fcntl): each store
 *     holds that of one of the memory's first 64 bytes while it lives
 *     (store/server/takeover.h). If the new instance fails, the next one finds
 *     the old one again;
 *   - ends it with httpd: SIGTERM, and SIGKILL long after `grace`;
 *   - ends it at once, and forgets it, if the lock in `base` is not the one
 *     that is open, or `runtime` is missing: somebody has removed them;
 *   - forgets it after its end (exit code 0 or 78): unmaps `memory` and
 *     `figures`, closes the descriptors, removes `runtime`. With the last
 *     instance of `base` it also removes the lock in there.
 *
 * Lock:  none. Only httpd's parent writes it. Its children read it.
 * Crash: it is gone with the parent; the watchdogs see that.
 * Trust: httpd's own memory.
 */
#ifndef MOD_APPPOOL_PARENT_RETAINED_H
#define MOD_APPPOOL_PARENT_RETAINED_H

#include <apr_time.h>

#define APPPOOL_RETAINED     "mod_apppool instances"
#define APPPOOL_RETAINED_FDS 16

typedef struct apppool_retained_t {
    apr_uint32_t size;                /**< of this struct, as the writer knew */
    apr_uint32_t n_fds;               /**< number of descriptors passed on */
    struct apppool_retained_t *older; /**< the instance before; NULL: none */
    char build[64];                   /**< only the same may continue with it */
    char base[80]; /**< AppPoolRuntimeDir; the lock is in it */
    char
        runtime[80]; /**< that, or a directory in it; "": nothing was started */
    char name[256];  /**< argv[0] of the watchdog */
    apr_int64_t watchdog; /**< pid; 0: none runs */
    apr_int64_t since;    /**< us, apl_now(): when it was started */
    apr_int64_t rapid;    /**< watchdogs in a row that died at once */
    apr_int64_t grace;    /**< us: the largest AppStopTimeout */
    void *memory;         /**< the segment; NULL: none */
    apr_uint64_t length;  /**< of it */
    apr_int32_t life;     /**< write end of the life pipe; -1: given up */
    apr_int32_t program;  /**< of the watchdog's program */
    apr_int32_t fds[APPPOOL_RETAINED_FDS]; /**< for the watchdog; -1: none */
    void *figures; /**< of the store, mapped read-only; NULL: none */
    apr_uint64_t figures_length;
    apr_int32_t store_format;  /**< of the store's memory, as
                                      CONTRACT_STORE_FORMAT; 0: there is no
                                      store */
    apr_int32_t store_items;   /**< its memory; a number in `fds`, as the
                                      next three */
    apr_int32_t store_mailbox; /**< the pair with copies of its sockets */
    apr_int32_t store_mailbox_end;
    apr_int32_t store_bell;
} apppool_retained_t;

#endif
