/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file reports.h
 * @brief What the spawner says about processes, to people and programs. A part
 *        for each file of the folder.
 */
#ifndef APPPOOL_SPAWNER_REPORT_REPORTS_H
#define APPPOOL_SPAWNER_REPORT_REPORTS_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/slots/session.h"
#include "spawner/process/state.h"
#include "spawner/process/job.h"

/* usage.c: what the processes of each application use, for the steps of its
 * last ten minutes (shm/verbs/step.h). One scan of all processes in each step
 * measures them (sid_scan.h).
 *
 * CPU time is counted as what a process has used since it was measured last, so
 * the sum of an application only goes up. At the death of a child, the kernel
 * says what it has used, with the children that it has waited for. What an
 * adopted process used before it was adopted is not known: it was counted by
 * the last spawner, except that of the last seconds. */

/** Measure, and record a step, if it is due. Call it once a second. */
void usage_check(spawner_t *s);

/** The process is dead: count the rest.
 * @param cpu us that it has used in all; 0: not known */
void usage_end(spawner_t *s, process_t *p, uint64_t cpu);

/* process_report.c: says in words what a process is doing, in whatever language
 * it is written. It does not use ptrace.
 *
 *     shop[4711] report: 1 process, 1 thread, 41.2 MB, CPU 12.31 s in all and
 *         0% now, 3600 s old
 *     shop[4711] report: process 4711 (python3) sleeps in clock_nanosleep
 *         (state S; CPU 0% now; wchan hrtimer_nanosleep; syscall 230 0x0 ...;
 *         kernel stack hrtimer_nanosleep+0x74/0xf0 < ...)
 *     shop[4711] report: command python3 app.py
 *
 * libc only.
 *
 * Trust: names and command lines come from the app; log_line() escapes them.
 *        Only root may read kernel stacks. */

#define PROCESS_REPORT_TEXT_MAX 128

/** The process of the report, and the place for its lines. */
typedef struct {
    const char *name; /**< for the lines: "shop[4711]" */
    pid_t leader;
    uint64_t start; /**< of the leader, procfs_t */
    uid_t only;     /**< only what this user may read, of processes whose files
                         in /proc are this user's; USERDB_NOBODY: all */
    void (*write_line)(void *ctx, const char *line);
    void *ctx;
} process_report_t;

/**
 * Report on a process and its whole session. This calls `write_line` for each
 * line. It takes a fifth of a second and may block, so only a helper job calls
 * it.
 */
void process_report_write(const process_report_t *asked);

/**
 * "sleeps in read", "waits for a lock (futex)", "is stopped", "runs".
 * @param state   as in /proc/PID/stat
 * @param syscall content of /proc/PID/syscall, or ""
 */
const char *process_report_doing(char state, const char *syscall,
                                 char text[PROCESS_REPORT_TEXT_MAX]);

/** The name of a system call that processes wait in. @return NULL: it is not
 * known */
const char *process_report_syscall(long number);

/** Make one line of the content of /proc/PID/stack, innermost call first. */
void process_report_stack(char *stack);

/* stuck_report.c: reports on stuck processes: which request it is, and what the
 * process is doing. Nothing here waits.
 *
 *     stuck_report_request(s, p, "is slow", &request);
 *     stuck_report_begin(s, p);
 *
 * and before a process is killed, again and again until it returns 1:
 *
 *     if (!stuck_report_is_done(s, p))
 *         return;
 *
 * A helper job (job.h) writes the report, because what it reads may
 * block. It takes at most two seconds.
 *
 * Crash: if the spawner dies while a report is being written, the report is
 *        finished. The next spawner begins another one before it ends the
 *        process.
 * Trust: any client may have written the texts of a request. log_line() escapes
 *        them. */

/** Write one line: the process, `what` (such as "is slow"), and the request. */
void stuck_report_request(const spawner_t *s, const process_t *p,
                          const char *what, const apl_session_peek_t *request);

/** Begin the report. @return 0; -1: there is none, because too many are being
 * written */
int stuck_report_begin(spawner_t *s, process_t *p);

/**
 * May the process be ended? The first call begins a report. When the report is
 * written, or after three seconds, the process gets AppDumpSignal, and has a
 * second to print.
 * @return 1: yes; 0: not yet, and the loop wakes up for the next try
 */
int stuck_report_is_done(spawner_t *s, process_t *p);

/**
 * AppSlowAfter: report each slow request once. Check all open requests. They
 * are read one by one, without the lock. Call this once a second. The next
 * spawner reports them once more. The process that a request names must be
 * ours. A flood of slow requests causes a bounded number of lines a second.
 */
void stuck_report_check_slow(spawner_t *s);

/* start_failure.c: why an app did not start: a text for the log and for the
 * segment, and a file from which httpd's children make the error page.
 *
 * The file is e/KEY, one for each app. It is removed when a start of the app is
 * a success (phase.c), or when the app leaves the configuration. While a start
 * lasts long, there is also e/KEY.slow (life.c). The lines are
 * "NAME VALUE": id, step, failure (what failed), reason (start_reason.h; none
 * if it is not known), sentence (both, or the failure and the last line of
 * output), command, directory, user. Then comes "output", and all lines after
 * that are output of the app.
 *
 * The segment has room for the beginning of the sentence. What shows the
 * segment takes the whole sentence from the file (shm/view/report_sentence.h).
 *
 * Errors: if the file cannot be written, there is none, and the page says less.
 * Crash:  the file is complete or does not exist.
 * Trust:  the file is root's, and httpd's group may read it. The output comes
 *         from the app, and commands may contain secrets. The environment is
 *         left out. */

#define START_FAILURE_MAX 1000 /**< bytes of a sentence, with NUL */

/** The start has failed, and the output is complete: find the reason in it. */
void start_failure_read(process_t *p);

/** Write the line for the log. */
void start_failure_log(const spawner_t *s, const process_t *p);

/** What failed and why, on one line, which ends at a word. */
void start_failure_brief(const process_t *p, char *text, size_t size);

/** Any other sentence, and the last line of output, on one line. */
void start_failure_describe(const process_t *p, const char *what, char *text,
                            size_t size);

/**
 * Write the file, and notify of the failure (AppNotify).
 * @param id   of the error, as in the log and in the segment
 * @param text a sentence: what failed
 */
void start_failure_keep(spawner_t *s, const process_t *p, int step, uint64_t id,
                        const char *text);

/** The start of this process lasts long, and this is missing: write the file
 * e/KEY.slow. Its id is that of the process. */
void start_failure_keep_slow(const spawner_t *s, const process_t *p,
                             const char *missing);

/** That start is over: remove the file. */
void start_failure_forget_slow(const spawner_t *s, const process_t *p);

/** The start of this process is a success. If starts of its app failed until
 * now, remove the file and notify of the success (AppNotify). */
void start_failure_forget(spawner_t *s, const process_t *p);

/** A new spawner: read from the files which apps could not be started. */
void start_failure_recall(const spawner_t *s);

/** Remove files that belong to no configured app. */
void start_failure_sweep(const spawner_t *s);

/* port_owner.c: which process listens on a TCP port that an app could not have.
 *
 * Errors: what is not found is not said.
 * Trust:  a process is named only if it belongs to the app's user: the text is
 *         shown to that user. A process may have any name. */

/** Write "port 3000 is used by node, pid 4711", or "... by another user's
 * process"; "": nobody listens there. @param user of the app */
void port_owner_say(unsigned port, uid_t user, char *text, size_t size);

/* template_failure.c: one rule for a template that fails: the command of the
 * app is executed instead. After two failures in a row there is no template
 * until the code or the configuration changes.
 *
 * It is a failure if a template does not load, dies, forks nothing for an
 * order, or says what is not true. A row ends when a template forks a process.
 * It also ends when the command does not start either: then it was not the
 * template. Two answers are final at once: the template exits with
 * FORK_ORDER_REFUSES, or there is none for the files of the app.
 *
 * Errors: if there is no memory, nothing is remembered.
 * Crash:  the next spawner remembers nothing. So it tries to load a template.
 * Trust:  a template says why it ended by its exit code. It can only harm its
 *         own app by that. */

/** Is no template loaded any more for this code and this configuration? */
int template_failure_forbids(const app_entry_t *a, uint64_t code);

/** The start of this template has failed. Execute the command for the starts
 * that wait for it. */
void template_failure_to_load(spawner_t *s, const process_t *t);

/** A template that was ready has failed. @return 1: it was the last one; 0 */
int template_failure_when_ready(const spawner_t *s, const process_t *t);

/** A template of this app has forked a process, or its command does not start:
 * the row has ended. */
void template_failure_row_ends(const char *app);

/** Forget the apps that are not configured any more. */
void template_failure_sweep(const spawner_t *s);

/* alert.c: AppNotify: collects the events of an app into notifications, so that
 * the administrator does not get a flood of them.
 *
 * The first event of an app is sent at once. The events that follow are sent
 * together, a minute later at the earliest: the last one, how many there were,
 * and the earlier ones as far as they fit. doc/operations.md describes the
 * object.
 *
 * This file also knows whether the starts of an app fail, with or without
 * AppNotify. This state begins with the first start that fails, and ends with a
 * start that is a success (phase.c).
 *
 * Crash: events that were not sent yet are lost; the log has them. A new
 *        spawner knows from e/KEY (start_failure.c) that starts fail. If that
 *        file could not be written, it notifies of this once more. A success
 *        while no spawner ran is not seen: the next success counts.
 * Trust: texts may contain any bytes of an app or a client. The notification is
 *        still valid JSON. */

enum {
    ALERT_START_FAILED,   /**< a process did not start */
    ALERT_BACKOFF_OPENED, /**< the first one in a row */
    ALERT_BACKOFF_CLOSED, /**< the app starts again */
    ALERT_BROKEN_DEPLOY,  /**< new code does not start, the old one serves on */
    ALERT_DEATHS,         /**< alert_death() */
    ALERT_KILLED,         /**< a process was killed for one of its requests */
    ALERT_UNKILLABLE      /**< AppMaxUnkillable */
};

/** Something happened to a process or to its app. */
void alert_raise(spawner_t *s, const process_t *p, int event,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/** A start of its app failed. @return 1: the first one in a row */
int alert_open(spawner_t *s, const process_t *p);

/** The start of this process is a success, so its app starts again, unless a
 * start failed after the process became ready. @return 1: starts failed until
 * now */
int alert_close(spawner_t *s, const process_t *p);

/** Starts of the app already failed under the last spawner. */
void alert_recall(const char *app);

/** A process died, although nothing had asked it to end. Several deaths within
 * a minute are an event. @param cause in words */
void alert_death(spawner_t *s, const process_t *p, const char *cause);

/** Send the notifications that are due. */
void alert_tick(spawner_t *s);

/* notify_command.c: runs the command of AppNotify, with a text on its standard
 * input.
 *
 * The command runs as the app's user, with no more rights and the same limits
 * as the app, and in a cgroup of its own. It gets two pipes and no other
 * descriptors. It reads the text from one pipe. What it prints into the other
 * one goes to the error log (app_log.c). Processes that the command has started
 * end with it. It is not a process of the app. But it has the mark of the
 * instance, so it also ends with the instance.
 *
 * Errors: 0, or -1 with errno. The log has a line for what fails later.
 * Crash:  a new spawner finds the command (leftovers.h, mark_scan.h) and
 *         ends it.
 * Trust:  the command may print any bytes. Some lines of it are logged. */

/** The maximum length of a text in bytes. That many bytes fit into any pipe at
 * once. So it does not matter whether and when the command reads. */
#define NOTIFY_COMMAND_MAX PIPE_BUF

/** A command that runs. Zeroed at first. */
typedef struct {
    job_t job; /**< first, so that its address is that of this structure */
    loop_source_t output;
    char app[APL_NAME_MAX];
    char label[64];     /**< of the app */
    char command[128];  /**< for messages, cut off */
    char printed[1024]; /**< the beginning of what it prints */
    size_t length;
} notify_command_t;

/** Run the command of `app`. @param text at most NOTIFY_COMMAND_MAX bytes */
int notify_command_begin(spawner_t *s, notify_command_t *c,
                         const app_entry_t *app, const char *text,
                         size_t length);

/** Does it still run? */
int notify_command_is_busy(const notify_command_t *c);

#endif
