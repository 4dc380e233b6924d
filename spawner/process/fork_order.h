/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fork_order.h
 * @brief The messages between the spawner and a template: the order to fork a
 *        process, and the hello of that process. doc/template.md describes the
 *        protocol.
 *
 * Nothing here depends on state, so all of it can be tested with any input.
 *
 * Trust: the hello is written by an untrusted process. It is a number, and
 *        only the kernel says what that number names (fork_facts_t).
 */
#ifndef APPPOOL_SPAWNER_PROCESS_FORK_ORDER_H
#define APPPOOL_SPAWNER_PROCESS_FORK_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FORK_ORDER_MAX     4096 /* bytes of an order */
#define FORK_HELLO_MAX     32   /* bytes that are read of a hello */
/** Exit code of a template: its code cannot be forked. */
#define FORK_ORDER_REFUSES 69

/**
 * Write the text of an order: NAME=VALUE strings, with one NUL between two.
 * @param variables the strings, NULL at the end
 * @return its length; 0: it does not fit
 */
size_t fork_order_write(const char *const *variables,
                        char text[FORK_ORDER_MAX]);

/** Read a hello: a pid in decimal, and a newline. @return the pid; 0: it is no
 * hello */
pid_t fork_order_hello(const char *bytes, size_t n);

/** What the kernel says about the process that a hello names. */
typedef struct {
    pid_t pid, parent, session;
    uint64_t start;   /**< clock ticks since boot */
    uint32_t uids[4]; /**< real, effective, saved, of the file system */
    int recorded;     /**< a record names it, or it is a helper job */
    int in_cgroup;    /**< it is in the cgroup of the template, or cgroups are
                           not used */
} fork_facts_t;

/** What that process has to be. */
typedef struct {
    pid_t spawner;
    uint32_t uid;     /**< of the template */
    uint64_t ordered; /**< clock ticks: when the order was sent */
} fork_expected_t;

/** @return NULL: each fact is as it has to be; or the first one that is not, as
 * the rest of a sentence: "is not a child of the spawner" */
const char *fork_order_wrong(const fork_facts_t *facts,
                             const fork_expected_t *expected);

/** The four numbers of the line Uid: of /proc/PID/status. @return 0, or -1 */
int fork_order_uids(const char *status, uint32_t uids[4]);

#endif
