/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/lifecycle.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_core.h>
#include <http_log.h>
#include <mpm_common.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "mod_apppool/app.h"
#include "mod_apppool/channel.h"
#include "mod_apppool/helper.h"
#include "mod_apppool/proxy_api.h"
#include "mod_apppool/runtime.h"
#include "mod_apppool/table.h"
#include "shm/checkout.h"
#include "shm/wake.h"
#include "spawner/contract.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), rv, ap_server_conf,      \
                 "apppool: " __VA_ARGS__)

#define STOP_MARGIN (15 * APR_USEC_PER_SEC) /* over the largest StopTimeout */
#define RAPID       (1 * APR_USEC_PER_SEC)  /* a helper that lives so short */

/** What outlives a configuration. No pointer into our own code or data. The
 * first four are all that another build of the module may look at. */
typedef struct {
    apr_uint64_t build;   /**< which build of the module wrote it */
    apr_int64_t watchdog; /**< pid; 0: none runs */
    apr_int64_t grace;    /**< largest AppStopTimeout so far, us */
    apr_int64_t lock;     /**< of the runtime directory; -1: none */

    apl_pool_t *pool; /**< NULL: nothing was started */
    pid_t parent_pid; /**< httpd's parent */
    apr_time_t since; /**< when the watchdog was started */
    apr_uint64_t instance;
    apl_capacity_t capacity;
    int life[2]; /**< pipe: read end, write end */
    apppool_helper_fds_t fds;
    int hard; /**< a hard restart is under way */
    char runtime[CONTRACT_RUNTIME_MAX + 1];
    char segment[CONTRACT_RUNTIME_MAX + 16];
    char libexec[1024];
} state_t;

#define BUILD (APL_LAYOUT ^ (apr_uint64_t)sizeof(state_t) << 32)

static const char retained[] = "mod_apppool";
static state_t *state;
static apr_proc_t watched; /* as httpd's list of other children wants it */
static int prefork, dying;

apl_pool_t *apppool_pool(void)
{
    return state ? state->pool : NULL;
}

const char *apppool_runtime(void)
{
    return state->runtime;
}

int apppool_child_dying(void)
{
    return dying && prefork;
}

/* ---- descriptors ---- */

/* Above those that the helpers get, so that none is in another's way. */
static int move_up(int fd)
{
    int up = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 20);

    if (fd >= 0)
        close(fd);
    return up;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_descriptors(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    state->life[0] = move_up(ends[0]);
    state->life[1] = move_up(ends[1]);
    state->fds.life = state->life[0];
    state->fds.bell = move_up(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    state->fds.parent = move_up(pidfd_open(getpid(), 0));
    return state->life[0] < 0 || state->life[1] < 0 || state->fds.bell < 0 ||
                   state->fds.parent < 0
               ? -1
               : 0;
}

/* ---- the watchdog ---- */

static int start_watchdog(void)
{
    pid_t pid = 0;
    int error =
        apppool_helper_start(&pid, state->libexec, state->runtime, &state->fds);

    state->since = apr_time_now();
    state->watchdog = error ? 0 : pid;
    if (error) {
        SAY(APLOG_ERR, error, "cannot start %s/apppool-watchdog",
            state->libexec);
    }
    return error;
}

static void maintain(int reason, void *data, int status);

static void watch(apr_pool_t *pconf)
{
    if (state->watchdog == 0)
        return;
    memset(&watched, 0, sizeof watched);
    watched.pid = (pid_t)state->watchdog;
    apr_proc_other_child_register(&watched, maintain, state, NULL, pconf);
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

    apr_proc_other_child_unregister(state);
    if (sign)
        SAY(APLOG_ERR, 0, "watchdog %d died of SIG%s", (int)state->watchdog,
            sign);
    else
        SAY(APLOG_ERR, 0, "watchdog %d ended with status %d",
            (int)state->watchdog, status);
    state->watchdog = 0;
    if (!running() || config || apr_time_now() - state->since < RAPID)
        return; /* at the next start of httpd, or by the monitor */
    if (start_watchdog() == 0)
        watch(ap_server_conf->process->pconf);
}

static void maintain(int reason, void *data, int status)
{
    (void)data;
    if (reason == APR_OC_REASON_RESTART)
        state->hard = 1;
    else if (reason == APR_OC_REASON_DEATH || reason == APR_OC_REASON_LOST)
        died(status);
}

int apppool_lifecycle_monitor(apr_pool_t *p, server_rec *s)
{
    (void)p;
    if (state && state->pool && state->watchdog == 0 && running() &&
        start_watchdog() == 0)
        watch(s->process->pconf);
    return DECLINED;
}

/* ---- end ---- */

static void stop_all(void)
{
    if (state->watchdog != 0 &&
        apppool_helper_stop((pid_t)state->watchdog,
                            state->grace + STOP_MARGIN) != 0)
        SAY(APLOG_ERR, 0, "watchdog %d did not end in good order",
            (int)state->watchdog);
    state->watchdog = 0;
    if (state->pool)
        apl_segment_close(state->pool);
    state->pool = NULL;
    close_fd(&state->life[0]);
    close_fd(&state->life[1]);
    close_fd(&state->fds.bell);
    close_fd(&state->fds.parent);
    if (state->fds.lock >= 0)
        apppool_runtime_remove(state->runtime);
    close_fd(&state->fds.lock);
    state->lock = -1;
    state->hard = 0;
}

/* The configuration goes: to be read again, or for good. */
static apr_status_t end_configuration(void *data)
{
    (void)data;
    if (!state || state->parent_pid != getpid())
        return APR_SUCCESS;
    /* APR has forgotten the watchdog by now: its cleanup is younger. */
    if (state->pool &&
        (state->hard || ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_EXITING))
        stop_all();
    return APR_SUCCESS;
}

/* ---- start ---- */

static apl_capacity_t capacity_of(server_rec *s)
{
    apppool_server_t server = apppool_server_of(s);
    apl_capacity_t n;
    int daemons = 0;

    ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &daemons);
    n.processes = (uint32_t)server.processes;
    n.sessions = (uint32_t)server.sessions;
    n.groups = n.processes < 1024 ? 1024 : n.processes;
    n.children = daemons < 96 ? 256 : (uint32_t)daemons * 2 + 64;
    return n;
}

static int start_all(server_rec *s, apr_pool_t *ptemp)
{
    apr_pool_t *forever = s->process->pool;
    const char *path = apppool_runtime_path(ptemp, s);
    const char *wrong = apppool_runtime_open(ptemp, path, &state->fds.lock);
    apl_pool_t *pool = apr_pcalloc(forever, sizeof *pool);
    apr_status_t rv;

    if (wrong) {
        SAY(APLOG_EMERG, 0, "%s", wrong);
        return !OK;
    }
    state->lock = state->fds.lock;
    apr_cpystrn(state->runtime, path, sizeof state->runtime);
    apr_snprintf(state->segment, sizeof state->segment, "%s/segment", path);
    state->parent_pid = getpid();
    state->capacity = capacity_of(s);
    state->grace = 0;
    apr_generate_random_bytes((unsigned char *)&state->instance,
                              sizeof state->instance);
    rv = open_descriptors() == 0 ? APR_SUCCESS : errno;
    if (rv == APR_SUCCESS)
        rv =
            apl_segment_create(pool, state->segment, &state->capacity, forever);
    if (rv != APR_SUCCESS) {
        SAY(APLOG_EMERG, rv, "cannot make the pool's shared memory");
        stop_all();
        return !OK;
    }
    pool->bell = state->fds.bell;
    state->pool = pool;
    return OK;
}

/* What cannot change while the segment stays. */
static void warn_about_capacity(server_rec *s, apr_pool_t *ptemp)
{
    apl_capacity_t now = capacity_of(s);
    const char *path = apppool_runtime_path(ptemp, s);

    if (now.processes != state->capacity.processes ||
        now.sessions != state->capacity.sessions)
        SAY(APLOG_WARNING, 0,
            "AppPoolCapacity cannot be changed by a graceful restart; %u "
            "processes and %u sessions stay until httpd is restarted",
            state->capacity.processes, state->capacity.sessions);
    if (path && strcmp(path, state->runtime))
        SAY(APLOG_WARNING, 0,
            "AppPoolRuntimeDir cannot be changed by a graceful restart; %s "
            "stays until httpd is restarted",
            state->runtime);
}

static int write_table(server_rec *s, apr_pool_t *ptemp)
{
    const apr_array_header_t *apps = apppool_apps();
    apppool_table_t table = {
        .runtime = state->runtime,
        .segment = state->segment,
        .instance = state->instance,
        .generation = (apr_uint32_t)ap_state_query(AP_SQ_CONFIG_GEN),
    };
    apr_status_t rv;
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (app->stop_timeout > state->grace)
            state->grace = app->stop_timeout;
    }
    rv = apppool_table_write(&table, s, ptemp);
    if (rv != APR_SUCCESS)
        SAY(APLOG_EMERG, rv, "cannot write %s/" CONTRACT_TABLE, state->runtime);
    return rv == APR_SUCCESS ? OK : !OK;
}

static int go_on(apr_pool_t *pconf, apr_pool_t *ptemp, server_rec *s)
{
    if (state->pool)
        warn_about_capacity(s, ptemp);
    else if (start_all(s, ptemp) != OK)
        return !OK;
    apr_cpystrn(state->libexec, apppool_server_of(s).libexec,
                sizeof state->libexec);
    if (write_table(s, ptemp) != OK)
        return !OK;
    if (!apppool_helper_runs((pid_t)state->watchdog) && start_watchdog() != 0)
        return !OK;
    watch(pconf);
    apl_wake_ring(state->fds.bell);
    return OK;
}

/* ---- hooks of the parent ---- */

int apppool_lifecycle_pre_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp)
{
    (void)plog;
    (void)ptemp;
    apppool_config_begin(pconf);
    state = ap_retained_data_get(retained);
    if (state && state->build != BUILD)
        state = NULL; /* post_config sees to it */
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

/* A graceful restart has loaded another build of the module: it cannot go on
 * with what the old one has left. Old children serve on without apps. */
static void end_other_build(const state_t *other)
{
    SAY(APLOG_WARNING, 0,
        "another build of the module was loaded: all applications start anew");
    if (other->watchdog != 0)
        apppool_helper_stop((pid_t)other->watchdog, other->grace + STOP_MARGIN);
    if (other->lock >= 0)
        close((int)other->lock);
}

static void obtain_state(void)
{
    const state_t *other = ap_retained_data_get(retained);

    if (state)
        return;
    if (other)
        end_other_build(other);
    state = ap_retained_data_create(retained, sizeof *state);
    state->build = BUILD;
    state->lock = state->fds.lock = state->fds.bell = state->fds.parent = -1;
    state->life[0] = state->life[1] = -1;
}

int apppool_lifecycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s)
{
    int rv;

    (void)plog;
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG)
        return OK;
    obtain_state();
    if (apppool_apps()->nelts == 0 && !state->pool)
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
        apl_child_unregister(state->pool);
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
    /* The lock is free when parent and helpers are gone; the write end of the
     * life pipe stays open as long as a child lives. */
    if (getpid() != state->parent_pid) {
        close_fd(&state->fds.lock);
        close_fd(&state->fds.parent);
        close_fd(&state->life[0]);
    }
    rv = apl_child_register(state->pool,
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
        apl_checkout_stop(state->pool);
}
