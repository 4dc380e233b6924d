/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/lifecycle.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <mpm_common.h>
#include <string.h>
#include <unistd.h>

#include "mod_apppool/app.h"
#include "mod_apppool/channel.h"
#include "mod_apppool/helper.h"
#include "mod_apppool/instance.h"
#include "mod_apppool/proxy_api.h"
#include "mod_apppool/runtime.h"
#include "shm/checkout.h"
#include "shm/wake.h"
#include "spawner/contract.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), rv, ap_server_conf,      \
                 "apppool: " __VA_ARGS__)

#define RAPID       APR_USEC_PER_SEC /* a watchdog's life that is no life */
#define RAPID_LIMIT 3                /* so many start at once, then wait */

static apppool_instance_t *instance;
static apr_proc_t watched; /* as httpd's list of other children wants it */
static int prefork, dying;

apl_pool_t *apppool_pool(void)
{
    return instance ? instance->pool : NULL;
}

const char *apppool_runtime(void)
{
    return instance->runtime;
}

int apppool_child_dying(void)
{
    return dying && prefork;
}

/* ---- the watchdog ---- */

static int start_watchdog(void)
{
    pid_t pid = 0;
    int error = apppool_helper_start(&pid, instance->libexec, instance->runtime,
                                     &instance->fds);

    instance->since = apr_time_now();
    instance->watchdog = error ? 0 : pid;
    if (error) {
        SAY(APLOG_ERR, error, "cannot start %s/apppool-watchdog",
            instance->libexec);
    }
    return error;
}

static void maintain(int reason, void *data, int status);

static void watch(apr_pool_t *pconf)
{
    if (instance->watchdog == 0)
        return;
    memset(&watched, 0, sizeof watched);
    watched.pid = (pid_t)instance->watchdog;
    apr_proc_other_child_register(&watched, maintain, instance, NULL, pconf);
}

static int running(void)
{
    int now;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &now) == APR_SUCCESS &&
           now == AP_MPMQ_RUNNING;
}

static void died(int status)
{
    /* httpd tells a signal and an exit code by the same number; the watchdog
     * has no exit code so small. */
    const char *sign = status > 0 && status < 32 ? sigabbrev_np(status) : NULL;
    int config =
        status == CONTRACT_EXIT_CONFIG || status == CONTRACT_EXIT_CONFIG << 8;

    apr_proc_other_child_unregister(instance);
    if (sign)
        SAY(APLOG_ERR, 0, "watchdog %d died of SIG%s", (int)instance->watchdog,
            sign);
    else
        SAY(APLOG_ERR, 0, "watchdog %d ended with status %d",
            (int)instance->watchdog, status);
    instance->watchdog = 0;
    if (apr_time_now() - instance->since >= RAPID)
        instance->rapid = 0;
    if (!running() || config || instance->rapid++ >= RAPID_LIMIT)
        return; /* at the next start of httpd, or by the monitor */
    if (start_watchdog() == 0)
        watch(ap_server_conf->process->pconf);
}

static void maintain(int reason, void *data, int status)
{
    (void)data;
    if (reason == APR_OC_REASON_RESTART)
        instance->hard = 1;
    else if (reason == APR_OC_REASON_DEATH || reason == APR_OC_REASON_LOST)
        died(status);
}

int apppool_lifecycle_monitor(apr_pool_t *p, server_rec *s)
{
    (void)p;
    if (instance && instance->pool && instance->watchdog == 0 && running() &&
        start_watchdog() == 0)
        watch(s->process->pconf);
    return DECLINED;
}

/* ---- with each configuration ---- */

/* The configuration goes: to be read again, or for good. */
static apr_status_t end_configuration(void *data)
{
    (void)data;
    if (!instance || instance->parent_pid != getpid())
        return APR_SUCCESS;
    /* APR has forgotten the watchdog by now: its cleanup is younger. */
    if (instance->pool && (instance->hard || ap_state_query(AP_SQ_MAIN_STATE) ==
                                                 AP_SQ_MS_EXITING))
        apppool_instance_close(instance);
    return APR_SUCCESS;
}

static int go_on(apr_pool_t *pconf, apr_pool_t *ptemp, server_rec *s)
{
    if (instance->pool)
        apppool_instance_keep(instance, s, ptemp);
    else if (apppool_instance_open(instance, s, ptemp) != OK)
        return !OK;
    apr_cpystrn(instance->libexec, apppool_server_of(s).libexec,
                sizeof instance->libexec);
    if (apppool_instance_tell(instance, s, ptemp) != OK)
        return !OK;
    if (!apppool_helper_runs((pid_t)instance->watchdog) &&
        start_watchdog() != 0)
        return !OK;
    watch(pconf);
    apl_wake_ring(instance->fds.bell);
    return OK;
}

/* ---- hooks of the parent ---- */

int apppool_lifecycle_pre_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp)
{
    (void)plog;
    (void)ptemp;
    apppool_config_begin(pconf);
    instance = apppool_instance_find();
    /* Also when this configuration turns out to be unusable. */
    apr_pool_cleanup_register(pconf, NULL, end_configuration,
                              apr_pool_cleanup_null);
    return OK;
}

int apppool_lifecycle_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                   apr_pool_t *ptemp, server_rec *s)
{
    int generation = ap_state_query(AP_SQ_CONFIG_GEN);
    const char *wrong;

    (void)plog;
    if (apppool_apps_resolve(pconf, s, (apr_uint32_t)generation) != OK)
        return !OK;
    if (apppool_apps()->nelts == 0)
        return OK;
    wrong = apppool_proxy_check(ptemp);
    if (!wrong)
        wrong = apppool_helper_check(ptemp, apppool_server_of(s).libexec);
    if (!wrong)
        wrong = apppool_runtime_check(ptemp, apppool_runtime_path(ptemp, s));
    if (wrong)
        SAY(APLOG_ERR, 0, "%s", wrong);
    return wrong ? !OK : OK;
}

int apppool_lifecycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s)
{
    int rv;

    (void)plog;
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG)
        return OK;
    instance = apppool_instance_obtain();
    if (apppool_apps()->nelts == 0 && !instance->pool)
        return OK;
    rv = go_on(pconf, ptemp, s);
    /* An httpd that serves must not end over a restart that went wrong. */
    return ap_state_query(AP_SQ_CONFIG_GEN) > 1 ? OK : rv;
}

/* ---- hooks of the children ---- */

static apr_status_t end_child(void *data)
{
    (void)data;
    if (!prefork)
        apl_child_unregister(instance->pool);
    return APR_SUCCESS;
}

void apppool_lifecycle_child_init(apr_pool_t *pchild, server_rec *s)
{
    int threads = 0;
    apr_status_t rv;

    if (!apppool_pool())
        return;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threads);
    prefork = !threads;
    dying = 0;
    if (getpid() != instance->parent_pid)
        apppool_instance_inherit(instance);
    rv = apl_child_register(instance->pool,
                            (uint32_t)ap_state_query(AP_SQ_CONFIG_GEN));
    if (rv != APR_SUCCESS)
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "apppool: this httpd child cannot join the pool");
    apr_pool_cleanup_register(pchild, NULL, end_child, apr_pool_cleanup_null);
    apppool_channels_init(pchild);
}

void apppool_lifecycle_child_stopping(apr_pool_t *pchild, int graceful)
{
    (void)pchild;
    dying = 1;
    if (!graceful && !prefork && apppool_pool())
        apl_checkout_stop(instance->pool);
}
