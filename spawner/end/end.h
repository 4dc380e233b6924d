/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file end.h
 * @brief How processes end: the phases of an end, and what begins one. A part
 *        for each file of the folder.
 */
#ifndef APPPOOL_SPAWNER_END_END_H
#define APPPOOL_SPAWNER_END_END_H

#include "spawner/process/state.h"

/* phase.c: the changes of the phase of a process that the spawner decides: its
 * start failed, it is ready, its start was a success, it has to stop. life.c
 * has the changes that come with time or with its death.
 *
 * A start is a success when the process has responded to a request, or has been
 * ready for a second. Without this rule, a process that ends as soon as it is
 * ready would be a success each time. shm/policy/backoff.h has the whole rule.
 *
 * Crash:  phase and deadline are in the registry before a signal is sent; the
 *         next spawner continues. The start of a process that was ready before
 *         this spawner began is a success.
 * Trust:  if the segment is wrong about requests, a start counts as a success
 *         too early. Nothing else happens. */

/** us: after that time SIGKILL should have ended a process. */
#define PHASE_KILL_LIMIT (10 * SECOND)

/** The start failed at this step (state.h); `format` is a sentence that
 * says why. Kill the process, write the log and the file for the error page. */
void phase_fail(spawner_t *s, process_t *p, int step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** It accepts connections. */
void phase_ready(spawner_t *s, process_t *p);

/** It is dead or refuses connections: is that a failed start to the pool,
 * because it ended by itself as soon as it was ready? */
int phase_ended_early(const spawner_t *s, const process_t *p);

/** If its start is a success by now, forget the failed starts of its app, and
 * what it has printed so far. */
void phase_check_start(spawner_t *s, process_t *p);

/** Send the stop signal to the group now, and KILL when the stop timeout is
 * over. */
void phase_stop(spawner_t *s, process_t *p, const char *why);

/** Send KILL now to a process that was not asked to end. */
void phase_end_now(spawner_t *s, process_t *p, const char *why);

/** Send TERM to the group now, and KILL when AppHungStopTimeout is over. */
void phase_kill(spawner_t *s, process_t *p, const char *why);

/* overdue.c: requests that take too long (AppHungAfter, AppKillAfter), and the
 * processes that are ended for them.
 *
 * The spawner writes to the segment first. From then on a killed process is no
 * capacity, its replacement is ordered, and its requests know why they fail.
 * Then life.c sees what the segment says and ends the process. It does
 * the same when a child of httpd has written that.
 *
 * Trust: a child of httpd may have any process ended. A client, or any child of
 *        httpd, has written the texts of a request. log_line() escapes them. */

/** Find requests that take too long. Call this once a second. */
void overdue_check(spawner_t *s);

/**
 * The process is to be ended with the requests it has. The first call writes
 * the log, notifies (AppNotify), and begins a report.
 * @return 1: yes; 0: the report is not finished, and TERM would change it
 */
int overdue_may_end(spawner_t *s, process_t *p);

/** @return the number of the app's unkillable processes, if that is more than
 * AppMaxUnkillable; else 0. It includes processes that were never ready: the
 * segment has no slot for them */
uint32_t overdue_unkillable(const spawner_t *s, const app_entry_t *app);

/** The process was sent SIGKILL at `killed` (us) and still lives. After a while
 * it counts as unkillable. The segment and the log then say so once. */
void overdue_survives_kill(spawner_t *s, process_t *p, int64_t killed);

/* abandoned.c: finds out when an app is done with an abandoned request: one for
 * which no client waits any more.
 *
 * httpd has closed its end of the connection. An app that works on the request
 * does not look at the connection, or continues nevertheless. But each server
 * closes its own end when it is done. The kernel knows which connections are
 * still open (sock_diag.h). While there are as many of them as abandoned
 * requests, no request has ended.
 *
 * An app may keep a connection open for another reason, such as in a process
 * that it forked. So each connection that goes counts as the end of one
 * request, however many are left. But when a request ends as it should, its
 * connection is also open for a moment after httpd has closed it. So a
 * connection counts only if it was there at each of the last few checks, which
 * take more than a tenth of a second.
 *
 * This is wrong if an app keeps a connection, and ends another request before
 * these checks. Then the connection that it keeps is taken for that request,
 * until one of the two is closed, or until AppKillAfter is over. The same holds
 * if a process that the app has forked has the shared connection of that very
 * request. It is also wrong if other requests just end at each of these checks.
 * Then the first check at which none does so counts as the end of one.
 *
 * If this kernel cannot list connections, or the app has bound its socket under
 * another name, the requests count as ended at once. Then the process gets
 * requests again. If the kernel only fails this time, no request counts as
 * ended.
 *
 * Trust: a child of httpd may abandon any request. That costs its app a
 *        process. There are at most a hundred checks a second, for any number
 *        of processes. The loop's share of a processor is another limit
 *        (loop.c). */

/** The segment says about this process that `n` of its requests are abandoned,
 * and that `waiting` other requests wait for a process of its app. */
void abandoned_note(process_t *p, uint32_t n, uint32_t waiting);

/** Check the processes that are due. */
void abandoned_check(spawner_t *s);

/* connection_cut.c: cut the shared connection of a process when no child of
 * httpd can.
 *
 * While a connection is parked, no process has to close it. That is a problem
 * in two cases:
 *
 *  *  The process is to stop. A serial server that waits for the next request
 *     on its connection may notice a signal only when that wait ends.
 *  * A child of httpd was killed in the middle of a request. The app has to see
 *     that its client is gone, as it would without a parked duplicate.
 *
 * Crash:  the next spawner does it again. A process that is to stop is ended by
 *         SIGKILL after AppStopTimeout at the latest.
 * Trust:  what is parked comes from children of httpd, and a close() may block.
 *         So a helper job takes it. */

/** If a connection of this process is parked that no child uses, cut it, once.
 * This happens at most every 100 ms, and once more at once when the process is
 * stopped. If the job fails or cannot be started, the next call tries again.
 * The spawner wakes up for that. @return 1: the connection is being cut */
int connection_cut_ask(spawner_t *s, process_t *p);

/** As connection_cut_ask(), if the child of httpd that has used it last was
 * killed within its request, and the process has no other. If the request was
 * allowed to last, no session is left that says so. */
void connection_cut_ask_if_left(spawner_t *s, process_t *p);

/** Is a job about to cut it? The spawner wakes at the end of that job. */
int connection_cut_is_under_way(const process_t *p);

/* memory_limit.c: AppMemoryLimit: a process that uses more memory is replaced,
 * as in a rolling restart. Another process starts first; then it ends after its
 * requests.
 *
 * The limit is for a process with all of its session, so the workers of a
 * server that forks count as well. Every ten seconds, a scan adds up the
 * resident bytes of /proc/PID/stat (sid_scan.h). To read them never waits.
 * But they include shared pages, once for each process that has them. If a
 * process is above the limit by that sum, it is measured exactly: each process
 * counts only its part of shared pages (smaps_rollup). For that the kernel
 * walks through the memory of the process, and waits for a lock that a stuck
 * process may never give back. So a helper job measures (job.h), one
 * process a second.
 *
 * The memory count of a cgroup cannot be used. A cgroup that contains
 * processes, like the one of httpd, cannot pass the memory controller on. */

/** A new process is not measured for this many times the time of its start. So
 * an app whose limit is too low is not started again and again all the time. */
#define MEMORY_LIMIT_REST 10

/** Check all processes. Call this once a second. */
void memory_limit_check(spawner_t *s);

/* httpd_children.c: watches httpd's children. When one dies, its sessions are
 * given back.
 *
 * Trust: a slot may name any process. That process is only watched. */

/** Watch new children, forget those that left, and report the dead ones to the
 * segment. */
void httpd_children_check(spawner_t *s);

#endif
