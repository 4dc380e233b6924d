/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/instance.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_main.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/parent/instance_list.h"
#include "mod_apppool/parent/runtime_dir.h"
#include "mod_apppool/parent/parent.h"
#include "base/contract.h"
#include "base/parking.h"
#include "base/pidfd.h"
#include "shm/format/segment.h"
#include "mod_apppool/parent/store_parts.h"
#include "mod_apppool/parent/store_takeover.h"
#include "shm/lock/wake.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, level, rv, ap_server_conf, "apppool: " __VA_ARGS__)

/* Parking may use a part of the files that a child of httpd may open. */
#define FILES_SHARE 8

#define LIMIT       (60 * APR_USEC_PER_SEC) /* for the end of applications */

#define FD          APPPOOL_INSTANCE_FD

/* ---- the instance of this build ---- */

const char *apppool_instance_build(apr_pool_t *p)
{
    return apr_psprintf(p, "contract %d, layout %016" PRIx64 ", %d bytes",
                        CONTRACT_VERSION, APL_LAYOUT,
                        (int)sizeof(apppool_instance_t));
}

apppool_instance_t *apppool_instance_find(apr_pool_t *p)
{
    apppool_retained_t *r = apppool_instance_list_newest();

    return r && !apppool_instance_list_winds_down(r) &&
                   !strcmp(r->build, apppool_instance_build(p))
               ? (apppool_instance_t *)r
               : NULL;
}

apppool_instance_t *apppool_instance_obtain(apr_pool_t *p)
{
    apppool_instance_t *i = apppool_instance_find(p);

    return i ? i
             : (apppool_instance_t *)apppool_instance_list_add(
                   sizeof *i, apppool_instance_build(p));
}

/* ---- the parts of an instance ---- */

static apl_capacity_t capacity_of(server_rec *s)
{
    apppool_server_t server = apppool_config_server(s);
    apl_capacity_t n;
    int daemons = 0;

    ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &daemons);
    n.processes = (uint32_t)server.processes;
    n.sessions = (uint32_t)server.sessions;
    n.groups = n.processes < 1024 ? 1024 : n.processes;
    n.children = daemons < 96 ? 256 : (uint32_t)daemons * 2 + 64;
    return n;
}

static int open_descriptors(apppool_instance_t *i)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    FD(i, LIFE) = ends[0];
    i->kept.life = ends[1];
    FD(i, DOORBELL) = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    FD(i, PARENT) = pidfd_open(getpid(), 0);
    return FD(i, DOORBELL) < 0 || FD(i, PARENT) < 0 ? -1 : 0;
}

/* Each child of httpd has all parking sockets, and may have a copy of each
 * connection that is parked. */
static void open_parking(apppool_instance_t *i)
{
    rlim_t most = i->capacity.processes;
    struct rlimit files;

    if (most > PARKING_MAX)
        most = PARKING_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
        files.rlim_cur / FILES_SHARE < most) {
        most = files.rlim_cur / FILES_SHARE;
        SAY(APLOG_NOTICE, 0,
            "httpd may open %lu files (ulimit -n): only the first %lu "
            "processes of the pool keep a connection",
            (unsigned long)files.rlim_cur, (unsigned long)most);
    }
    FD(i, PARKING) = most > 0 ? parking_make((int)most) : -1;
    if (most > 0 && FD(i, PARKING) < 0)
        SAY(APLOG_WARNING, errno,
            "no process keeps a connection: cannot make the sockets");
}

static const char *open_programs(apppool_instance_t *i, server_rec *s,
                                 apr_pool_t *ptemp)
{
    const char *libexec = apppool_config_server(s).libexec;
    apppool_programs_t programs;
    const char *wrong = apppool_programs_open(
        &programs, ptemp, libexec, apppool_store_spaces()->nelts > 0);

    if (wrong)
        return wrong;
    i->kept.program = programs.watchdog;
    FD(i, PROGRAM) = programs.spawner;
    FD(i, STORE_PROGRAM) = programs.store;
    apr_cpystrn(i->libexec, libexec, sizeof i->libexec);
    apr_snprintf(i->kept.name, sizeof i->kept.name, "%s/%s", libexec,
                 CONTRACT_WATCHDOG_PROGRAM);
    return NULL;
}

/* This instance is beside an old one that winds down, and uses the same
 * lock. */
static const char *move_in_beside(apppool_instance_t *i,
                                  const apppool_retained_t *other,
                                  apr_pool_t *ptemp)
{
    const char *path, *wrong;
    int n = 0;

    do
        path = apppool_runtime_dir_place(ptemp, other->base, n++);
    while (path && apppool_instance_list_uses(path));
    if (!path)
        return apr_psprintf(ptemp,
                            "%s is full: %d instances of other builds wait "
                            "for their last requests; restart httpd",
                            other->base, n - 1);
    wrong = apppool_runtime_dir_make(ptemp, path);
    if (wrong)
        return wrong;
    FD(i, LOCK) = fcntl(other->fds[CONTRACT_LOCK_FD - CONTRACT_LIFE_FD],
                        F_DUPFD_CLOEXEC, 0);
    apr_cpystrn(i->kept.runtime, path, sizeof i->kept.runtime);
    SAY(APLOG_NOTICE, 0,
        "another build of the module was loaded: applications are started "
        "again in %s; the old ones in %s continue until the last request of "
        "httpd's old children has ended",
        path, other->runtime);
    return NULL;
}

/* For the end of what a killed httpd has left. Its store saves its items. */
static apr_interval_time_t wait_limit(server_rec *s)
{
    return LIMIT + apppool_config_server(s).store_save_time;
}

static const char *end_one(apppool_retained_t *r, const char *runtime,
                           apr_interval_time_t limit, apr_pool_t *p)
{
    pid_t pid;
    int status, error = apppool_watchdogs_end(&pid, r, runtime);

    if (error)
        return apr_psprintf(p, "cannot start %s: %s", r->name, strerror(error));
    ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, ap_server_conf,
                 "apppool: ending what an httpd that was killed left in %s",
                 runtime);
    if (!apppool_watchdogs_wait(pid, limit, &status))
        return apr_psprintf(p,
                            "applications or the store of an httpd that was "
                            "killed still run; watchdog %d waits for them in "
                            "%s",
                            (int)pid, runtime);
    if (status != 0)
        return apr_psprintf(p,
                            "what an httpd that was killed left in %s could "
                            "not be ended: see the lines above",
                            runtime);
    return NULL;
}

/* An httpd that was killed with its watchdog has left processes. For each
 * runtime directory that was not left in good order, a watchdog ends these
 * processes and empties the directory. The caller has the lock. */
static const char *end_leftovers(apppool_retained_t *r,
                                 apr_interval_time_t limit, apr_pool_t *p)
{
    const char *runtime, *wrong;
    int n;

    for (n = 0; (runtime = apppool_runtime_dir_place(p, r->base, n)) != NULL;
         n++) {
        if (!apppool_runtime_dir_has_leftovers(p, runtime, n > 0))
            continue;
        wrong = end_one(r, runtime, limit, p);
        if (wrong)
            return wrong;
        apppool_runtime_dir_clear(runtime, n > 0);
    }
    return NULL;
}

/* Take the directory, and end the processes of an httpd that was killed. */
static const char *move_in(apppool_instance_t *i, server_rec *s,
                           apr_pool_t *ptemp)
{
    const char *base = apppool_runtime_dir_path(ptemp, s), *wrong;
    const apppool_retained_t *other;

    wrong = apppool_runtime_dir_check(ptemp, base);
    if (wrong)
        return wrong;
    apr_cpystrn(i->kept.base, base, sizeof i->kept.base);
    other = apppool_instance_list_in(base, &i->kept);
    if (other)
        return move_in_beside(i, other, ptemp);
    wrong = apppool_runtime_dir_make(ptemp, base);
    if (!wrong)
        wrong =
            apppool_runtime_dir_lock(ptemp, base, wait_limit(s), &FD(i, LOCK));
    if (!wrong)
        wrong = end_leftovers(&i->kept, wait_limit(s), ptemp);
    if (!wrong)
        apr_cpystrn(i->kept.runtime, base, sizeof i->kept.runtime);
    return wrong;
}

static const char *renew_base(apppool_instance_t *i, apr_pool_t *ptemp)
{
    const char *wrong;

    close(FD(i, LOCK));
    FD(i, LOCK) = -1;
    wrong = apppool_runtime_dir_make(ptemp, i->kept.base);
    return wrong ? wrong
                 : apppool_runtime_dir_lock(ptemp, i->kept.base, LIMIT,
                                            &FD(i, LOCK));
}

const char *apppool_instance_renew_dir(apppool_instance_t *i, apr_pool_t *ptemp)
{
    const char *wrong = NULL;

    if (!apppool_instance_list_is_lost(&i->kept))
        return NULL;
    if (apppool_runtime_dir_is_lost(i->kept.base, FD(i, LOCK)))
        wrong = renew_base(i, ptemp);
    if (!wrong)
        wrong = apppool_runtime_dir_make(ptemp, i->kept.runtime);
    if (!wrong)
        apppool_runtime_dir_point(ptemp, i->kept.base, i->kept.runtime);
    return wrong;
}

int apppool_instance_parking_lot(const apppool_instance_t *i)
{
    return FD(i, PARKING);
}

/* ---- start ---- */

static const char *open_parts(apppool_instance_t *i, server_rec *s,
                              apr_pool_t *ptemp)
{
    const char *wrong = open_programs(i, s, ptemp);
    apr_status_t rv = APR_SUCCESS;
    char text[120];

    if (wrong)
        return wrong;
    if (open_descriptors(i) != 0)
        rv = errno;
    else {
        wrong = move_in(i, s, ptemp);
        if (!wrong)
            rv = apl_segment_create(&i->pool, &i->capacity);
    }
    if (rv == APR_SUCCESS)
        return wrong;
    return apr_psprintf(ptemp, "cannot make the pool's shared memory: %s",
                        apr_strerror(rv, text, sizeof text));
}

int apppool_instance_open(apppool_instance_t *i, server_rec *s,
                          apr_pool_t *ptemp)
{
    const char *wrong;

    i->capacity = capacity_of(s);
    i->kept.n_fds = CONTRACT_LAST_FD - CONTRACT_LIFE_FD + 1;
    i->kept.watchdog = i->kept.rapid = i->kept.grace = 0;
    apr_generate_random_bytes((unsigned char *)&i->name, sizeof i->name);
    wrong = open_parts(i, s, ptemp);
    if (wrong) {
        SAY(APLOG_EMERG, 0, "%s", wrong);
        return !OK;
    }
    open_parking(i);
    apppool_runtime_dir_point(ptemp, i->kept.base, i->kept.runtime);
    FD(i, SEGMENT) = i->pool.file;
    i->pool.doorbell = FD(i, DOORBELL);
    i->kept.memory = i->pool.base;
    i->kept.length = i->pool.size;
    return OK;
}

/* These cannot change while the segment stays. */
void apppool_instance_warn_fixed(const apppool_instance_t *i, server_rec *s,
                                 apr_pool_t *ptemp)
{
    apl_capacity_t now = capacity_of(s);
    const char *path = apppool_runtime_dir_path(ptemp, s);
    const char *libexec = apppool_config_server(s).libexec;

    if (now.processes != i->capacity.processes ||
        now.sessions != i->capacity.sessions)
        SAY(APLOG_WARNING, 0,
            "AppPoolCapacity cannot be changed by a graceful restart; %u "
            "processes and %u sessions stay until httpd is restarted",
            i->capacity.processes, i->capacity.sessions);
    if (path && strcmp(path, i->kept.base))
        SAY(APLOG_WARNING, 0,
            "AppPoolRuntimeDir cannot be changed by a graceful restart; %s "
            "stays until httpd is restarted",
            i->kept.base);
    if (strcmp(libexec, i->libexec))
        SAY(APLOG_WARNING, 0,
            "AppPoolLibexec cannot be changed by a graceful restart; the "
            "programs of %s run until httpd is restarted",
            i->libexec);
}

/* httpd waits that long for the end of the watchdog. */
static void extend_grace(apppool_instance_t *i, server_rec *s)
{
    apppool_server_t server = apppool_config_server(s);
    const apr_array_header_t *apps = apppool_app_all();
    apr_int64_t most = 0;
    int n;

    for (n = 0; n < apps->nelts; n++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, n, apppool_app_t *);

        if (app->stop_timeout > most)
            most = app->stop_timeout;
    }
    if (i->has_store || apppool_store_spaces()->nelts > 0)
        most += server.store_save_time + CONTRACT_STORE_REST * APR_USEC_PER_SEC;
    if (most > i->kept.grace)
        i->kept.grace = most;
}

int apppool_instance_write_table(apppool_instance_t *i, server_rec *s,
                                 apr_pool_t *ptemp)
{
    apppool_app_table_t table = {
        .runtime = i->kept.runtime,
        .capacity = i->capacity,
        .instance = i->name,
        .generation = (apr_uint32_t)ap_state_query(AP_SQ_CONFIG_GEN),
    };
    apr_status_t rv;

    extend_grace(i, s);
    rv = apppool_app_table_write(&table, s, ptemp);
    if (rv != APR_SUCCESS)
        SAY(APLOG_EMERG, rv, "cannot write %s/" CONTRACT_TABLE,
            i->kept.runtime);
    return rv == APR_SUCCESS ? OK : !OK;
}

/* ---- its store ---- */

void apppool_instance_store_open(apppool_instance_t *i)
{
    apppool_store_parts_t parts;

    i->store_error = apppool_store_parts_make(&parts);
    if (!i->store_error && apppool_store_spaces()->nelts > 0)
        i->store_from = apppool_store_takeover(&i->kept, &parts);
    FD(i, ITEMS) = parts.items;
    FD(i, FIGURES) = parts.figures;
    FD(i, MAILBOX) = parts.mailbox;
    FD(i, MAILBOX_END) = parts.mailbox_end;
    FD(i, BELL) = parts.bell;
    i->kept.figures = parts.figures_map;
    i->kept.figures_length = CONTRACT_FIGURES_SIZE;
}

/* Is everything there that the store was to get when the instance began? */
static int can_have_store(const apppool_instance_t *i, apr_pool_t *ptemp)
{
    int program = FD(i, STORE_PROGRAM);
    const char *wrong = NULL;

    if (program >= 0 && !i->has_store)
        wrong = apppool_programs_check_store(program, ptemp, i->libexec);
    if (program < 0)
        SAY(APLOG_ERR, 0,
            "AppStore needs " CONTRACT_STORE_PROGRAM
            ", which was not in %s when httpd started: restart httpd",
            i->libexec);
    else if (wrong)
        SAY(APLOG_ERR, 0, "AppStore: %s, and restart httpd", wrong);
    else if (i->store_error)
        SAY(APLOG_ERR, i->store_error,
            "AppStore: cannot make the memory of the store; if httpd has a "
            "limit of file sizes (ulimit -f), remove it");
    else
        return 1;
    return 0;
}

/* Another build may take it over from now on. */
static void publish(apppool_instance_t *i)
{
    i->kept.store_format = CONTRACT_STORE_FORMAT;
    i->kept.store_items = FD(i, ITEMS);
    i->kept.store_mailbox = FD(i, MAILBOX);
    i->kept.store_mailbox_end = FD(i, MAILBOX_END);
    i->kept.store_bell = FD(i, BELL);
}

int apppool_instance_store_write_table(apppool_instance_t *i, server_rec *s,
                                       apr_pool_t *ptemp)
{
    if (apppool_store_spaces()->nelts == 0 && !i->has_store)
        return 0;
    if (!can_have_store(i, ptemp) ||
        apppool_store_table_write(i->kept.runtime, i->kept.base, i->kept.build,
                                  s, ptemp) != 0)
        return 0;
    /* A store that starts reads the table without the bell. */
    if (i->has_store)
        apl_wake_ring(FD(i, BELL));
    i->has_store = 1;
    publish(i);
    return 1;
}

void apppool_instance_store_replace(apppool_instance_t *i)
{
    if (i->store_from && apppool_store_takeover_tell(i->store_from) == 0)
        i->store_from = NULL;
}
