/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/watchdog_watch.h"

#include <ap_mpm.h>
#include <http_config.h>
#include <http_log.h>
#include <http_main.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "mod_apppool/parent/watchdog_process.h"
#include "mod_apppool/parent/instance_list.h"
#include "spawner/shared/contract.h"
#include "spawner/shared/clock_ms.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, level, rv, ap_server_conf, "apppool: " __VA_ARGS__)

#define RAPID       APR_USEC_PER_SEC /* a watchdog's life that is no life */
#define RAPID_LIMIT 3                /* so many start at once, then wait */
#define STOP_MARGIN (15 * APR_USEC_PER_SEC) /* over the largest StopTimeout */

/* A watchdog that does not move. httpd's monitor comes every ten seconds, and
 * more often when children of httpd end. */
#define LOOK        9000             /* ms from one look to the next */
#define LOOKS       3                /* it hangs */
#define STOP_LOOK   APR_USEC_PER_SEC /* the same when it is to stop */
#define STOP_LOOKS  4
#define DEATH       APR_USEC_PER_SEC /* for SIGKILL to be of effect */

/* A watchdog that runs. It lives as long as the configuration. */
typedef struct watched_t {
    struct watched_t *next;
    apppool_retained_t *instance; /* NULL: it has ended */
    apr_proc_t process;
    pulse_t pulse;
    int64_t look_at; /* ms */
} watched_t;

static watched_t *watched;

static void maintain(int reason, void *data, int status);

/* Look after it, and have httpd call maintain() when it ends. */
static void be_told(apppool_retained_t *r, apr_pool_t *pconf)
{
    watched_t *w = apr_pcalloc(pconf, sizeof *w);

    w->instance = r;
    w->process.pid = (pid_t)r->watchdog;
    w->look_at = millis_now() + LOOK;
    w->next = watched;
    watched = w;
    apr_proc_other_child_register(&w->process, maintain, w, NULL, pconf);
}

static void start(apppool_retained_t *r, apr_pool_t *pconf)
{
    int error = apppool_helper_start(r);

    if (error)
        SAY(APLOG_ERR, error, "cannot start %s", r->name);
    else
        be_told(r, pconf);
}

static int running(void)
{
    int now;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &now) == APR_SUCCESS &&
           now == AP_MPMQ_RUNNING;
}

/* What is to be said and kept of its end.
 * @param status exit code or signal as httpd tells it: by one number, or as
 *        of waitpid(); our programs have no exit code as small as a signal
 * @return 1: start it again, now */
static int take_note(apppool_retained_t *r, int status)
{
    int code = status > 255 ? WEXITSTATUS(status) : status & 0x7f;
    const char *sign =
        status > 0 && status <= 255 && code < 32 ? sigabbrev_np(code) : NULL;
    char buf[LASTWORDS_MAX];
    const char *words = apppool_helper_words(r, buf);
    int pid = (int)r->watchdog;

    r->watchdog = 0;
    if (apppool_legacy_drains(r) &&
        (code == CONTRACT_EXIT_DONE || code == CONTRACT_EXIT_CONFIG)) {
        SAY(APLOG_NOTICE, 0, "the old instance in %s has ended", r->runtime);
        apppool_legacy_forget(r);
        return 0;
    }
    if (sign)
        SAY(APLOG_ERR, 0, "watchdog %d died of SIG%s%s", pid, sign, words);
    else
        SAY(APLOG_ERR, 0, "watchdog %d ended with status %d%s", pid, code,
            words);
    if (apr_time_now() - r->since >= RAPID)
        r->rapid = 0;
    return code != CONTRACT_EXIT_CONFIG && r->rapid++ < RAPID_LIMIT;
}

static void maintain(int reason, void *data, int status)
{
    watched_t *w = data;
    apppool_retained_t *r = w->instance;

    if (reason != APR_OC_REASON_DEATH && reason != APR_OC_REASON_LOST)
        return;
    w->instance = NULL;
    apr_proc_other_child_unregister(w);
    if (take_note(r, status) && running())
        start(r, ap_server_conf->process->pconf);
}

/* Another one takes over while it dies: it never runs again. */
static void leave(watched_t *w, apr_pool_t *pconf)
{
    apppool_retained_t *r = w->instance;

    SAY(APLOG_ERR, 0, "watchdog %d survives SIGKILL and never runs again",
        (int)r->watchdog);
    w->instance = NULL;
    apr_proc_other_child_unregister(w);
    r->watchdog = 0;
    start(r, pconf);
}

/* Does it still move? Its death is told to maintain(). */
static void look(watched_t *w, apr_pool_t *pconf)
{
    int64_t now = millis_now();
    int silent;

    if (!w->instance || now < w->look_at)
        return;
    w->look_at = now + LOOK;
    silent = apppool_helper_silent(w->instance, &w->pulse);
    if (silent > LOOKS)
        leave(w, pconf);
    else if (silent == LOOKS) {
        kill(w->process.pid, SIGKILL);
        SAY(APLOG_ERR, 0, "watchdog %d has not moved for %d s: SIGKILL",
            (int)w->process.pid, LOOKS * LOOK / 1000);
    }
}

void apppool_watch_look(void)
{
    apppool_retained_t *r, *older;
    int status;

    for (r = apppool_legacy_newest(); r; r = older) {
        older = r->older;
        if (r->watchdog != 0 &&
            !apppool_helper_runs((pid_t)r->watchdog, &status))
            take_note(r, status);
    }
}

void apppool_watch(apr_pool_t *pconf)
{
    apppool_retained_t *r;

    watched = NULL; /* that was of the last configuration's pool */
    for (r = apppool_legacy_newest(); r; r = r->older) {
        if (r->watchdog != 0)
            be_told(r, pconf);
        else if (apppool_legacy_is_open(r))
            start(r, pconf);
    }
}

void apppool_watch_again(apr_pool_t *pconf)
{
    apppool_retained_t *r;
    watched_t *w;

    for (w = watched; running() && w; w = w->next)
        look(w, pconf);
    for (r = apppool_legacy_newest(); running() && r; r = r->older)
        if (apppool_legacy_is_open(r) && r->watchdog == 0)
            start(r, pconf);
}

/* By its watchdog; by another one, if that is dead. */
static void ask_to_end(apppool_retained_t *r)
{
    int status, error;
    pid_t pid = 0;

    if (apppool_helper_runs((pid_t)r->watchdog, &status)) {
        kill((pid_t)r->watchdog, SIGTERM);
        kill((pid_t)r->watchdog, SIGCONT); /* stopped, it hears nothing */
        return;
    }
    error = apppool_helper_end(&pid, r, r->runtime);
    if (error)
        SAY(APLOG_ERR, error, "cannot start %s", r->name);
    r->watchdog = pid;
}

/* It does not move, or takes too long. */
static void end(apppool_retained_t *r, int silent)
{
    int status;

    kill((pid_t)r->watchdog, SIGKILL);
    SAY(APLOG_ERR, 0, "watchdog %d %s: SIGKILL", (int)r->watchdog,
        silent >= STOP_LOOKS ? "was told to stop and does not move"
                             : "takes too long to stop");
    apppool_helper_wait((pid_t)r->watchdog, DEATH, &status);
    r->watchdog = 0;
}

/* Wait for that. @return 1: it is done */
static int has_ended(apppool_retained_t *r)
{
    int64_t until = millis_now() + (r->grace + STOP_MARGIN) / 1000;
    int status = -1, silent;
    pulse_t pulse = {0};

    if (r->watchdog == 0)
        return 0;
    apppool_helper_silent(r, &pulse);
    while (!apppool_helper_wait((pid_t)r->watchdog, STOP_LOOK, &status)) {
        silent = apppool_helper_silent(r, &pulse);
        if (silent >= STOP_LOOKS || millis_now() >= until) {
            end(r, silent);
            return 0;
        }
    }
    r->watchdog = 0;
    return status == 0;
}

void apppool_watch_stop(void)
{
    apppool_retained_t *r, *older;

    for (r = apppool_legacy_newest(); r; r = r->older)
        if (apppool_legacy_is_open(r))
            ask_to_end(r);
    for (r = apppool_legacy_newest(); r; r = older) {
        older = r->older;
        if (!apppool_legacy_is_open(r))
            continue;
        if (!has_ended(r)) {
            ask_to_end(r);
            if (!has_ended(r))
                SAY(APLOG_ERR, 0, "what is in %s did not end in good order",
                    r->runtime);
        }
        apppool_legacy_forget(r);
    }
}
