/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/watch.h"

#include <ap_mpm.h>
#include <http_config.h>
#include <http_log.h>
#include <http_main.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "mod_apppool/helper.h"
#include "mod_apppool/legacy.h"
#include "spawner/contract.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, level, rv, ap_server_conf, "apppool: " __VA_ARGS__)

#define RAPID       APR_USEC_PER_SEC /* a watchdog's life that is no life */
#define RAPID_LIMIT 3                /* so many start at once, then wait */
#define STOP_MARGIN (15 * APR_USEC_PER_SEC) /* over the largest StopTimeout */

static void maintain(int reason, void *data, int status);

/* Have httpd call maintain() when it ends. */
static void be_told(apppool_retained_t *r, apr_pool_t *pconf)
{
    apr_proc_t *process = apr_pcalloc(pconf, sizeof *process);

    process->pid = (pid_t)r->watchdog;
    apr_proc_other_child_register(process, maintain, r, NULL, pconf);
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
    if (reason != APR_OC_REASON_DEATH && reason != APR_OC_REASON_LOST)
        return;
    apr_proc_other_child_unregister(data);
    if (take_note(data, status) && running())
        start(data, ap_server_conf->process->pconf);
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
        return;
    }
    error = apppool_helper_end(&pid, r, r->runtime);
    if (error)
        SAY(APLOG_ERR, error, "cannot start %s", r->name);
    r->watchdog = pid;
}

static int has_ended(apppool_retained_t *r)
{
    apr_interval_time_t limit = r->grace + STOP_MARGIN;
    int status = -1;

    if (r->watchdog != 0 &&
        !apppool_helper_wait((pid_t)r->watchdog, limit, &status)) {
        kill((pid_t)r->watchdog, SIGKILL);
        apppool_helper_wait((pid_t)r->watchdog, limit, &status);
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
