/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <ap_mpm.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_config.h>
#include <http_log.h>
#include <http_main.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mod_apppool/parent/instance_list.h"
#include "shm/lock/lock_token.h"
#include "base/contract.h"
#include "base/clock_ms.h"
#include "base/heartbeat.h"
#include "base/stderr_file.h"
#include "mod_apppool/parent/parent.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, level, rv, ap_server_conf, "apppool: " __VA_ARGS__)

#define RAPID       APR_USEC_PER_SEC /* us: it died at once */
#define RAPID_LIMIT 3                /* starts at once in a row */
#define STOP_MARGIN                                                            \
    (15 * APR_USEC_PER_SEC) /* us more than the largest AppStopTimeout */

/* For a watchdog without a heartbeat. httpd calls the monitor hook every ten
 * seconds, and more often when children of httpd end. */
#define CHECK_INTERVAL      9000             /* ms between two checks */
#define CHECKS              3                /* it hangs */
#define STOP_CHECK_INTERVAL APR_USEC_PER_SEC /* us, when it is to stop */
#define STOP_CHECKS         4
#define DEATH               APR_USEC_PER_SEC /* us for SIGKILL to take effect */

/* ---- a process ---- */

#define WAIT_STEP           (10 * 1000) /* us */
#define WORDS_PATH          (CONTRACT_RUNTIME_MAX + 32)
#define FIRST_FD            3 /* of the descriptors in retained.h */

static void words_path(char path[WORDS_PATH], const char *runtime)
{
    snprintf(path, WORDS_PATH, "%s/" CONTRACT_WATCHDOG_STDERR, runtime);
}

/* Its stderr: a file for what it prints before it dies, or else httpd's
 * stderr. */
static int open_words(const char *runtime)
{
    char path[WORDS_PATH];
    int fd;

    words_path(path, runtime);
    fd = stderr_file_open(AT_FDCWD, path);
    return fd < 0 ? dup(STDERR_FILENO) : fd;
}

static int execute(pid_t *pid, const apppool_retained_t *r, const char *runtime,
                   const char *word)
{
    char *argv[] = {(char *)(uintptr_t)r->name, (char *)(uintptr_t)runtime,
                    (char *)(uintptr_t)word, NULL};
    int fds[FIRST_FD + APPPOOL_RETAINED_FDS];
    apr_uint32_t i;
    int error;

    fds[0] = -1;
    fds[CONTRACT_LOG_FD] = STDERR_FILENO;
    fds[STDERR_FILENO] = open_words(runtime);
    for (i = 0; i < r->n_fds && i < APPPOOL_RETAINED_FDS; i++)
        fds[FIRST_FD + i] = r->fds[i];
    error = apppool_exec_program(pid, r->program, argv, fds, FIRST_FD + (int)i);
    close(fds[STDERR_FILENO]);
    return error;
}

static int start_process(apppool_retained_t *r)
{
    pid_t pid = 0;
    int error = execute(&pid, r, r->runtime, NULL);

    r->since = apl_now();
    r->watchdog = error ? 0 : pid;
    return error;
}

int apppool_watchdogs_end(pid_t *pid, const apppool_retained_t *r,
                          const char *runtime)
{
    return execute(pid, r, runtime, CONTRACT_STOP);
}

/* What it wrote to stderr before it died: ": ...", or "". */
static const char *last_words(const apppool_retained_t *r,
                              char buf[STDERR_FILE_MAX])
{
    char path[WORDS_PATH];

    words_path(path, r->runtime);
    return stderr_file_read(AT_FDCWD, path, buf);
}

/* A dead one is reaped. @param status of a dead one */
static int process_runs(pid_t pid, int *status)
{
    *status = 0;
    return pid > 0 && waitpid(pid, status, WNOHANG) == 0;
}

/* Checks in a row that found no heartbeat. 0 if that is not known: the watchdog
 * of an older build has no heartbeat. */
static int silent_checks(const apppool_retained_t *r, heartbeat_t *pulse)
{
    char path[WORDS_PATH];

    snprintf(path, sizeof path, "%s/" CONTRACT_WATCHDOG_HEARTBEAT, r->runtime);
    heartbeat_check(pulse, AT_FDCWD, path);
    return pulse->inode == 0 ? 0 : pulse->silent;
}

int apppool_watchdogs_wait(pid_t pid, apr_interval_time_t limit, int *status)
{
    int64_t end = apl_now() + limit;
    pid_t got;

    while ((got = waitpid(pid, status, WNOHANG)) == 0 ||
           (got < 0 && errno == EINTR)) {
        if (apl_now() >= end)
            return 0;
        apr_sleep(WAIT_STEP);
    }
    if (got != pid)
        *status = -1;
    return 1;
}

/* ---- all of them ---- */

/* A watchdog that runs. This lives as long as the configuration. */
typedef struct watched_t {
    struct watched_t *next;
    apppool_retained_t *instance; /* NULL: it has ended */
    apr_proc_t process;
    heartbeat_t pulse;
    int64_t check_at; /* ms */
} watched_t;

static watched_t *watched;

static void handle_death(int reason, void *data, int status);

/* Watch it, and ask httpd to call handle_death() when it ends. */
static void watch_one(apppool_retained_t *r, apr_pool_t *pconf)
{
    watched_t *w = apr_pcalloc(pconf, sizeof *w);

    w->instance = r;
    w->process.pid = (pid_t)r->watchdog;
    w->check_at = clock_ms() + CHECK_INTERVAL;
    w->next = watched;
    watched = w;
    apr_proc_other_child_register(&w->process, handle_death, w, NULL, pconf);
}

static void start(apppool_retained_t *r, apr_pool_t *pconf)
{
    int error = start_process(r);

    if (error)
        SAY(APLOG_ERR, error, "cannot start %s", r->name);
    else
        watch_one(r, pconf);
}

static int running(void)
{
    int now;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &now) == APR_SUCCESS &&
           now == AP_MPMQ_RUNNING;
}

/* Log the end when nothing of the instance is left: an administrator may wait
 * for the line. */
static void forget_old(apppool_retained_t *r)
{
    char runtime[sizeof r->runtime];

    apr_cpystrn(runtime, r->runtime, sizeof runtime);
    apppool_instance_list_forget(r);
    SAY(APLOG_NOTICE, 0, "the old instance in %s has ended", runtime);
}

/* Log the end of the watchdog, and note what is needed later.
 * @param status exit code or signal as httpd reports it: by one number, or as
 *        of waitpid(); our programs have no exit code as small as a signal
 * @return 1: start it again, now */
static int note_end(apppool_retained_t *r, int status)
{
    int code = status > 255 ? WEXITSTATUS(status) : status & 0x7f;
    const char *sign =
        status > 0 && status <= 255 && code < 32 ? sigabbrev_np(code) : NULL;
    char buf[STDERR_FILE_MAX];
    const char *words = last_words(r, buf);
    int pid = (int)r->watchdog;

    r->watchdog = 0;
    if (apppool_instance_list_winds_down(r) &&
        (code == CONTRACT_EXIT_DONE || code == CONTRACT_EXIT_CONFIG)) {
        forget_old(r);
        return 0;
    }
    if (sign)
        SAY(APLOG_ERR, 0, "watchdog %d died of SIG%s%s", pid, sign, words);
    else
        SAY(code == CONTRACT_EXIT_DONE ? APLOG_NOTICE : APLOG_ERR, 0,
            "watchdog %d ended with status %d%s", pid, code, words);
    if (apl_now() - r->since >= RAPID)
        r->rapid = 0;
    return code != CONTRACT_EXIT_CONFIG && r->rapid++ < RAPID_LIMIT;
}

static void handle_death(int reason, void *data, int status)
{
    watched_t *w = data;
    apppool_retained_t *r = w->instance;

    if (reason != APR_OC_REASON_DEATH && reason != APR_OC_REASON_LOST)
        return;
    w->instance = NULL;
    apr_proc_other_child_unregister(w);
    if (note_end(r, status) && running())
        start(r, ap_server_conf->process->pconf);
}

/* SIGKILL is pending, so it never runs again: start another one. */
static void replace_unkillable(watched_t *w, apr_pool_t *pconf)
{
    apppool_retained_t *r = w->instance;

    SAY(APLOG_ERR, 0, "watchdog %d survives SIGKILL and never runs again",
        (int)r->watchdog);
    w->instance = NULL;
    apr_proc_other_child_unregister(w);
    r->watchdog = 0;
    start(r, pconf);
}

/* Does it have a heartbeat? httpd reports its death to handle_death(). */
static void check_beat(watched_t *w, apr_pool_t *pconf)
{
    int64_t now = clock_ms();
    int silent;

    if (!w->instance || now < w->check_at)
        return;
    w->check_at = now + CHECK_INTERVAL;
    silent = silent_checks(w->instance, &w->pulse);
    if (silent > CHECKS)
        replace_unkillable(w, pconf);
    else if (silent == CHECKS) {
        kill(w->process.pid, SIGKILL);
        SAY(APLOG_ERR, 0, "watchdog %d has had no heartbeat for %d s: SIGKILL",
            (int)w->process.pid, CHECKS * CHECK_INTERVAL / 1000);
    }
}

void apppool_watchdogs_collect(void)
{
    apppool_retained_t *r, *older;
    int status;

    for (r = apppool_instance_list_newest(); r; r = older) {
        older = r->older;
        if (r->watchdog != 0 && !process_runs((pid_t)r->watchdog, &status))
            note_end(r, status);
    }
}

void apppool_watchdogs_watch(apr_pool_t *pconf)
{
    apppool_retained_t *r;

    watched = NULL; /* the list was in the last configuration's pool */
    for (r = apppool_instance_list_newest(); r; r = r->older) {
        if (r->watchdog != 0)
            watch_one(r, pconf);
        else if (apppool_instance_list_is_open(r))
            start(r, pconf);
    }
}

void apppool_watchdogs_check(apr_pool_t *pconf)
{
    apppool_retained_t *r;
    watched_t *w;

    for (w = watched; running() && w; w = w->next)
        check_beat(w, pconf);
    for (r = apppool_instance_list_newest(); running() && r; r = r->older)
        if (apppool_instance_list_is_open(r) && r->watchdog == 0)
            start(r, pconf);
}

/* A watchdog that does not run looks for the table when it starts. */
void apppool_watchdogs_tell(const apppool_retained_t *r)
{
    if (r->watchdog > 0)
        kill((pid_t)r->watchdog, SIGHUP);
}

/* Ask its watchdog, or start another one if it is dead. */
static void ask_to_stop(apppool_retained_t *r)
{
    int status, error;
    pid_t pid = 0;

    if (process_runs((pid_t)r->watchdog, &status)) {
        kill((pid_t)r->watchdog, SIGCONT); /* it may be stopped (SIGSTOP) */
        kill((pid_t)r->watchdog, SIGTERM);
        return;
    }
    error = apppool_watchdogs_end(&pid, r, r->runtime);
    if (error)
        SAY(APLOG_ERR, error, "cannot start %s", r->name);
    r->watchdog = pid;
}

/* It has no heartbeat, or the stop takes too long. */
static void kill_watchdog(apppool_retained_t *r, int silent)
{
    int status;

    kill((pid_t)r->watchdog, SIGKILL);
    SAY(APLOG_ERR, 0, "watchdog %d %s: SIGKILL", (int)r->watchdog,
        silent >= STOP_CHECKS ? "was told to stop and has no heartbeat"
                              : "takes too long to stop");
    apppool_watchdogs_wait((pid_t)r->watchdog, DEATH, &status);
    r->watchdog = 0;
}

/* Wait for its end. @return 1: everything has ended */
static int has_ended(apppool_retained_t *r)
{
    int64_t until = clock_ms() + (r->grace + STOP_MARGIN) / 1000;
    int status = -1, silent;
    heartbeat_t pulse = {0};

    if (r->watchdog == 0)
        return 0;
    silent_checks(r, &pulse);
    while (!apppool_watchdogs_wait((pid_t)r->watchdog, STOP_CHECK_INTERVAL,
                                   &status)) {
        silent = silent_checks(r, &pulse);
        if (silent >= STOP_CHECKS || clock_ms() >= until) {
            kill_watchdog(r, silent);
            return 0;
        }
    }
    r->watchdog = 0;
    return status == 0;
}

/* It was asked to stop. If it did not, it is asked once more.
 * @return 1: everything has ended */
static int see_the_end(apppool_retained_t *r)
{
    if (has_ended(r))
        return 1;
    ask_to_stop(r);
    if (has_ended(r))
        return 1;
    SAY(APLOG_ERR, 0, "the old processes of %s did not end properly",
        r->runtime);
    return 0;
}

static void ask_lost_to_stop(void)
{
    apppool_retained_t *r;

    for (r = apppool_instance_list_newest(); r; r = r->older) {
        if (!apppool_instance_list_is_lost(r))
            continue;
        SAY(APLOG_WARNING, 0,
            "the runtime directory %s was removed while httpd ran%s",
            r->runtime,
            r->watchdog ? ": what runs there is ended, and started again" : "");
        if (r->watchdog != 0)
            ask_to_stop(r);
    }
}

int apppool_watchdogs_end_lost(const apppool_retained_t *own)
{
    apppool_retained_t *r, *older;
    int own_ended = 1;

    ask_lost_to_stop();
    for (r = apppool_instance_list_newest(); r; r = older) {
        int ended;

        older = r->older;
        if (!apppool_instance_list_is_lost(r))
            continue;
        ended = r->watchdog == 0 || see_the_end(r);
        if (r == own)
            own_ended = ended;
        else
            forget_old(r);
    }
    return own_ended;
}

void apppool_watchdogs_stop(void)
{
    apppool_retained_t *r, *older;

    for (r = apppool_instance_list_newest(); r; r = r->older)
        if (apppool_instance_list_is_open(r))
            ask_to_stop(r);
    for (r = apppool_instance_list_newest(); r; r = older) {
        older = r->older;
        if (!apppool_instance_list_is_open(r))
            continue;
        see_the_end(r);
        apppool_instance_list_forget(r);
    }
}
