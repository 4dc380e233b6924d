/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/instance.h"

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
#include <sys/pidfd.h>
#include <unistd.h>

#include "mod_apppool/app.h"
#include "mod_apppool/runtime.h"
#include "mod_apppool/table.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), rv, ap_server_conf,      \
                 "apppool: " __VA_ARGS__)

#define STOP_MARGIN (15 * APR_USEC_PER_SEC) /* over the largest StopTimeout */

#define BUILD       (APL_LAYOUT ^ (apr_uint64_t)sizeof(apppool_instance_t) << 32)

static const char retained[] = "mod_apppool";

/* ---- the one ---- */

apppool_instance_t *apppool_instance_find(void)
{
    apppool_instance_t *i = ap_retained_data_get(retained);

    return i && i->build == BUILD ? i : NULL;
}

/* It cannot be gone on with. Old children serve on without apps. */
static void end_other_build(const apppool_instance_t *other)
{
    SAY(APLOG_WARNING, 0,
        "another build of the module was loaded: all applications start anew");
    if (other->watchdog != 0)
        apppool_helper_stop((pid_t)other->watchdog, other->grace + STOP_MARGIN);
    if (other->lock >= 0)
        close((int)other->lock);
}

apppool_instance_t *apppool_instance_obtain(void)
{
    apppool_instance_t *i = apppool_instance_find();

    if (i)
        return i;
    i = ap_retained_data_get(retained);
    if (i)
        end_other_build(i);
    i = ap_retained_data_create(retained, sizeof *i);
    i->build = BUILD;
    i->lock = i->fds.lock = i->fds.bell = i->fds.parent = i->fds.segment = -1;
    i->life[0] = i->life[1] = -1;
    return i;
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

static int open_descriptors(apppool_instance_t *i)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    i->life[0] = move_up(ends[0]);
    i->life[1] = move_up(ends[1]);
    i->fds.life = i->life[0];
    i->fds.bell = move_up(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    i->fds.parent = move_up(pidfd_open(getpid(), 0));
    return i->life[0] < 0 || i->life[1] < 0 || i->fds.bell < 0 ||
                   i->fds.parent < 0
               ? -1
               : 0;
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

int apppool_instance_open(apppool_instance_t *i, server_rec *s,
                          apr_pool_t *ptemp)
{
    apr_pool_t *forever = s->process->pool;
    const char *path = apppool_runtime_path(ptemp, s);
    const char *wrong = apppool_runtime_open(ptemp, path, &i->fds.lock);
    apl_pool_t *pool = apr_pcalloc(forever, sizeof *pool);
    apr_status_t rv;

    if (wrong) {
        SAY(APLOG_EMERG, 0, "%s", wrong);
        return !OK;
    }
    i->lock = i->fds.lock;
    apr_cpystrn(i->runtime, path, sizeof i->runtime);
    i->parent_pid = getpid();
    i->capacity = capacity_of(s);
    i->grace = 0;
    apr_generate_random_bytes((unsigned char *)&i->name, sizeof i->name);
    rv = open_descriptors(i) == 0 ? APR_SUCCESS : errno;
    if (rv == APR_SUCCESS)
        rv = apl_segment_create(pool, &i->capacity);
    if (rv == APR_SUCCESS && (i->fds.segment = move_up(dup(pool->file))) < 0)
        rv = errno;
    if (rv != APR_SUCCESS) {
        SAY(APLOG_EMERG, rv, "cannot make the pool's shared memory");
        apppool_instance_close(i);
        return !OK;
    }
    pool->bell = i->fds.bell;
    i->pool = pool;
    return OK;
}

/* What cannot change while the segment stays. */
void apppool_instance_keep(const apppool_instance_t *i, server_rec *s,
                           apr_pool_t *ptemp)
{
    apl_capacity_t now = capacity_of(s);
    const char *path = apppool_runtime_path(ptemp, s);

    if (now.processes != i->capacity.processes ||
        now.sessions != i->capacity.sessions)
        SAY(APLOG_WARNING, 0,
            "AppPoolCapacity cannot be changed by a graceful restart; %u "
            "processes and %u sessions stay until httpd is restarted",
            i->capacity.processes, i->capacity.sessions);
    if (path && strcmp(path, i->runtime))
        SAY(APLOG_WARNING, 0,
            "AppPoolRuntimeDir cannot be changed by a graceful restart; %s "
            "stays until httpd is restarted",
            i->runtime);
}

int apppool_instance_tell(apppool_instance_t *i, server_rec *s,
                          apr_pool_t *ptemp)
{
    const apr_array_header_t *apps = apppool_apps();
    apppool_table_t table = {
        .runtime = i->runtime,
        .capacity = i->capacity,
        .instance = i->name,
        .generation = (apr_uint32_t)ap_state_query(AP_SQ_CONFIG_GEN),
    };
    apr_status_t rv;
    int n;

    for (n = 0; n < apps->nelts; n++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, n, apppool_app_t *);

        if (app->stop_timeout > i->grace)
            i->grace = app->stop_timeout;
    }
    rv = apppool_table_write(&table, s, ptemp);
    if (rv != APR_SUCCESS)
        SAY(APLOG_EMERG, rv, "cannot write %s/" CONTRACT_TABLE, i->runtime);
    return rv == APR_SUCCESS ? OK : !OK;
}

/* ---- end ---- */

void apppool_instance_close(apppool_instance_t *i)
{
    if (i->watchdog != 0 &&
        apppool_helper_stop((pid_t)i->watchdog, i->grace + STOP_MARGIN) != 0)
        SAY(APLOG_ERR, 0, "watchdog %d did not end in good order",
            (int)i->watchdog);
    i->watchdog = 0;
    if (i->pool)
        apl_segment_close(i->pool);
    i->pool = NULL;
    close_fd(&i->life[0]);
    close_fd(&i->life[1]);
    close_fd(&i->fds.bell);
    close_fd(&i->fds.parent);
    close_fd(&i->fds.segment);
    if (i->fds.lock >= 0)
        apppool_runtime_remove(i->runtime);
    close_fd(&i->fds.lock);
    i->lock = -1;
    i->hard = 0;
}

void apppool_instance_inherit(apppool_instance_t *i)
{
    /* The lock is free when parent and helpers are gone. The write end of the
     * life pipe stays open as long as a child lives. */
    close_fd(&i->fds.lock);
    close_fd(&i->fds.parent);
    close_fd(&i->fds.segment);
    close_fd(&i->pool->file);
    close_fd(&i->life[0]);
}
