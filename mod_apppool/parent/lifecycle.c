/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/parent.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <errno.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/config/app_resolve.h"
#include "mod_apppool/config/app_user.h"
#include "mod_apppool/config/php_directives.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/backend/client_proxy.h"
#include "mod_apppool/backend/kept.h"
#include "mod_apppool/backend/in_use.h"
#include "mod_apppool/backend/app_connection.h"
#include "mod_apppool/backend/http_request.h"
#include "mod_apppool/backend/parked.h"
#include "mod_apppool/instance/current.h"
#include "mod_apppool/parent/instance.h"
#include "mod_apppool/parent/instance_list.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/parent/runtime_dir.h"
#include "mod_apppool/pump/suspend.h"
#include "mod_apppool/body/spool_file.h"
#include "shm/verbs/checkout.h"
#include "shm/lock/wake.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), rv, ap_server_conf,      \
                 "apppool: " __VA_ARGS__)

static apppool_instance_t *instance; /* NULL, or one of this build */
static pid_t parent;                 /* httpd's */
static uid_t user;                   /* that has started httpd */
static int prefork;

static int is_open(void)
{
    return instance && apppool_instance_is_open(instance);
}

/* ---- with each configuration ---- */

/* The configuration ends: it is read again, or httpd ends. */
static apr_status_t end_configuration(void *data)
{
    (void)data;
    /* A graceful restart and the exit of a child keep everything. httpd -X has
     * given up its rights by now. The watchdog sees its end. */
    if (getpid() == parent && geteuid() == user &&
        (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_EXITING ||
         ap_unixd_mpm_get_retained_data()->is_ungraceful))
        apppool_watchdogs_stop();
    return APR_SUCCESS;
}

/* Its directory may have been removed.
 * @param has_ended what ran in that directory. @return OK, !OK */
static int continue_instance(server_rec *s, int has_ended, apr_pool_t *ptemp)
{
    const char *wrong = has_ended ? apppool_instance_renew_dir(instance, ptemp)
                                  : "restart httpd";

    if (wrong)
        SAY(APLOG_EMERG, 0, "%s cannot be made again: %s",
            instance->kept.runtime, wrong);
    apppool_instance_warn_fixed(instance, s, ptemp);
    return wrong ? !OK : OK;
}

static int start_or_continue(apr_pool_t *pconf, apr_pool_t *ptemp,
                             server_rec *s)
{
    int rv, is_new, has_store = 0, lost_ended;

    apppool_watchdogs_collect();
    lost_ended = apppool_watchdogs_end_lost(&instance->kept);
    is_new = !apppool_instance_is_open(instance);
    if (is_new) {
        rv = apppool_instance_open(instance, s, ptemp);
        apppool_instance_store_open(instance);
    }
    else
        rv = continue_instance(s, lost_ended, ptemp);
    if (rv == OK)
        has_store = apppool_instance_store_write_table(instance, s, ptemp);
    if (rv == OK)
        rv = apppool_instance_write_table(instance, s, ptemp);
    /* An instance that never got an app table is of no use. */
    if (rv != OK && is_new)
        apppool_instance_list_forget(&instance->kept);
    apppool_watchdogs_watch(pconf);
    if (rv == OK) {
        apl_wake_ring(instance->pool.doorbell);
        if (has_store) {
            apppool_watchdogs_tell(&instance->kept);
            apppool_instance_store_replace(instance);
        }
    }
    /* Otherwise the next instance finds the old store. */
    if (rv == OK)
        apppool_instance_list_give_up();
    return rv;
}

/* ---- hooks of the parent ---- */

int apppool_lifecycle_pre_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp)
{
    (void)plog;
    (void)ptemp;
    parent = getpid();
    user = geteuid();
    apppool_config_begin(pconf);
    apppool_app_user_begin();
    apppool_php_directives_begin(pconf);
    /* This comes before another module forks a process that would inherit
     * them. */
    apppool_instance_list_withhold(apppool_instance_build(ptemp));
    instance = apppool_instance_find(ptemp);
    /* This also happens if this configuration turns out to be unusable. It
     * happens before httpd forgets which kind of restart it is. */
    apr_pool_pre_cleanup_register(pconf, NULL, end_configuration);
    return OK;
}

static const char *check_programs(apr_pool_t *ptemp, server_rec *s)
{
    apppool_programs_t programs;
    const char *wrong = apppool_programs_open(
        &programs, ptemp, apppool_config_server(s).libexec,
        apppool_store_spaces()->nelts > 0);

    apppool_programs_close(&programs);
    return wrong;
}

int apppool_lifecycle_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                   apr_pool_t *ptemp, server_rec *s)
{
    int generation = ap_state_query(AP_SQ_CONFIG_GEN);
    const char *wrong;

    (void)plog;
    if (apppool_app_resolve(pconf, s, (apr_uint32_t)generation) != OK)
        return !OK;
    if (apppool_app_all()->nelts == 0)
        return OK;
    wrong = apppool_proxy_api_check(ptemp);
    /* Later it is checked when an instance is opened. An httpd that serves must
     * not end because something is wrong that it does not need. */
    if (!wrong && generation == 0)
        wrong = check_programs(ptemp, s);
    if (!wrong && generation == 0)
        wrong = apppool_runtime_dir_check(ptemp,
                                          apppool_runtime_dir_path(ptemp, s));
    if (!wrong && generation == 0)
        wrong = apppool_spool_file_check_dir(
            ptemp, apppool_config_server(s).spool_dir);
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
    if (apppool_app_all()->nelts == 0 && !is_open()) {
        apppool_instance_list_give_up();
        apppool_watchdogs_collect();
        apppool_watchdogs_watch(pconf);
        return OK;
    }
    instance = apppool_instance_obtain(pconf);
    rv = start_or_continue(pconf, ptemp, s);
    /* An httpd that serves must not end because a restart failed. */
    return ap_state_query(AP_SQ_CONFIG_GEN) > 1 ? OK : rv;
}

int apppool_lifecycle_monitor(apr_pool_t *p, server_rec *s)
{
    (void)p;
    apppool_watchdogs_check(s->process->pconf);
    return DECLINED;
}

/* ---- hooks of the children ---- */

static apr_status_t end_child(void *data)
{
    (void)data;
    if (!prefork)
        apl_child_unregister(&instance->pool);
    return APR_SUCCESS;
}

/* The pool of an earlier configuration is open, and this one has no app, so
 * apppool_lifecycle_check_config() has not looked for mod_proxy. It may be
 * gone. */
static int lacks_proxy(apr_pool_t *p)
{
    return apppool_app_all()->nelts == 0 && apppool_proxy_api_check(p) != NULL;
}

void apppool_lifecycle_child_init(apr_pool_t *pchild, server_rec *s)
{
    char why[120];
    int threads = 0;
    apr_status_t rv;

    if (is_open() && lacks_proxy(pchild))
        instance = NULL;
    if (is_open() && apppool_parked_init(apppool_instance_parking_lot(instance),
                                         instance->kept.runtime, user) != 0) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, s,
                     "apppool: this httpd child serves no applications: it "
                     "cannot have their connections");
        instance = NULL;
    }
    if (getpid() != parent)
        apppool_instance_list_inherit(is_open() ? instance->pool.doorbell : -1);
    if (!is_open())
        return;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threads);
    prefork = !threads;
    *apppool_current() = (apppool_current_t){.pool = &instance->pool,
                                             .runtime = instance->kept.runtime,
                                             .figures = instance->kept.figures};
    rv = apl_child_register(&instance->pool,
                            (uint32_t)ap_state_query(AP_SQ_CONFIG_GEN));
    if (rv != APR_SUCCESS)
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                     "apppool: this httpd child cannot join the pool: %s",
                     apl_error_text(rv, why, sizeof why));
    apr_pool_cleanup_register(pchild, NULL, end_child, apr_pool_cleanup_null);
    apppool_client_proxy_init(s->process->pconf);
    apppool_kept_init(s->process->pconf, &instance->pool);
    apppool_in_use_init(s->process->pconf);
    apppool_app_connection_init(s->process->pconf);
    apppool_http_request_init(s->process->pconf);
    apppool_spool_file_init(pchild);
    apppool_suspend_begin(pchild, s);
}

void apppool_lifecycle_child_stopping(apr_pool_t *pchild, int graceful)
{
    (void)pchild;
    apppool_current()->is_dying = prefork;
    if (prefork || !is_open())
        return;
    apppool_suspend_leave(graceful);
    if (graceful)
        return;
    apl_checkout_stop(&instance->pool);
    apppool_in_use_stop();
}
