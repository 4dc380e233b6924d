/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/verbs/configure.h"
#include "system/log.h"
#include "base/privilege.h"
#include "spawner/process/process.h"
#include "spawner/output/output.h"
#include "spawner/process/claim.h"

#define OWN  64 /* our own: control clients, helper jobs, starts */
#define EACH 4  /* pidfd, FIFO, $NOTIFY_SOCKET; a connection or a file */

static int64_t due; /* us: when update_segment() is called again */

/* ---- loading ---- */

static char refused[APP_TABLE_ERROR_MAX]; /* why; "": it was not */
static int64_t again; /* us: a refused table is not read again before that */

static int has_changed(const spawner_t *s)
{
    static struct stat seen;
    struct stat st;

    if (fstatat(s->rt.fd, CONTRACT_TABLE, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (st.st_ino == seen.st_ino && st.st_size == seen.st_size &&
        st.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
        st.st_mtim.tv_nsec == seen.st_mtim.tv_nsec)
        return refused[0] && s->now >= again;
    seen = st;
    return 1;
}

/* The reason may be a lack of descriptors or memory, so it is read again. */
static void refuse(spawner_t *s, const char *error)
{
    again = s->now + SECOND;
    if (strcmp(error, refused) == 0)
        return;
    snprintf(refused, sizeof refused, "%s", error);
    log_line(LOG_ERROR, "the app table %s/%s is refused: %s", s->rt.dir,
             CONTRACT_TABLE, error);
}

/* Make the links to the error log and to its format, for programs that do not
 * read JSON. */
static void make_link(const spawner_t *s, const char *name, const char *to)
{
    char old[4096];
    ssize_t n = readlinkat(s->rt.fd, name, old, sizeof old - 1);

    old[n > 0 ? n : 0] = 0;
    if (to && strcmp(to, old) == 0)
        return;
    unlinkat(s->rt.fd, name, 0);
    if (to && symlinkat(to, s->rt.fd, name) != 0)
        log_line(LOG_WARN, "%s/%s cannot be made: %s", s->rt.dir, name,
                 strerror(errno));
}

/* AppRoot was missing for a moment when httpd read its configuration, so its
 * owner is not known. Then the old owner stays. It does no harm if that is
 * wrong, because each new process checks the owner (boot.c). */
static void keep_owners(app_table_t *new_table, const app_table_t *old)
{
    uint32_t i;

    for (i = 0; i < new_table->n; i++) {
        app_entry_t *a = &new_table->apps[i];
        const app_entry_t *was = app_table_find(old, a->app.name);

        if (a->owner == USERDB_NOBODY && !a->user && was &&
            strcmp(was->app.root, a->app.root) == 0)
            a->owner = was->owner;
    }
}

void apply_table_configure(spawner_t *s, process_t *p)
{
    const app_entry_t *a =
        s->table ? app_table_find(s->table, p->is.name) : NULL;

    if (!a)
        return;
    p->slot.outdated = 0;
    p->app.stop_timeout = a->stop_timeout;
    p->app.hung_stop_timeout = a->hung_stop_timeout;
    p->app.retire_timeout = a->retire_timeout;
    p->app.stop_signal = a->stop_signal;
    if (state_is_template(p))
        p->app.stop_signal = SIGTERM;
    snprintf(p->label, sizeof p->label, "%s%s", a->label,
             state_is_template(p) ? " template" : "");
    output_to(p, a->log, a->log_raw, a->error_format);
}

/* ---- how many descriptors the spawner may have ---- */

/* With a control socket for each user of apps (control.h), the two ends of
 * the socket of each log (log_writer.c), and templates, of which an app may
 * have two for a moment. Each process may have been forked by another template,
 * whose output is still read (template.h). */
static rlim_t own(const spawner_t *s)
{
    rlim_t n = OWN + (rlim_t)s->table->n;
    int forks = 0;
    uint32_t i;

    for (i = 0; i < s->table->n; i++) {
        n += s->table->apps[i].log ? 2 : 0;
        n += s->table->apps[i].preload ? 2 * EACH : 0;
        forks |= s->table->apps[i].preload;
    }
    return n + (forks ? s->table->max_pool_size : 0);
}

static rlim_t needed(const spawner_t *s)
{
    return own(s) + s->table->capacity.children +
           (rlim_t)EACH * s->table->max_pool_size;
}

static void raise_limit(spawner_t *s)
{
    rlim_t need = needed(s);
    struct rlimit most;

    if (s->descriptors.rlim_cur == 0)
        getrlimit(RLIMIT_NOFILE, &s->descriptors);
    getrlimit(RLIMIT_NOFILE, &most);
    if (most.rlim_max < need) {
        struct rlimit more = {need, need};

        if (setrlimit(RLIMIT_NOFILE, &more) == 0)
            return;
    }
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    if (most.rlim_max >= need)
        return;
    log_line(LOG_WARN,
             "MaxPoolSize %u: the spawner needs %llu descriptors (%d for each "
             "process, %u for httpd's children, %llu of its own), and its hard "
             "limit is %llu: raise that of httpd (ulimit -Hn; LimitNOFILE= of "
             "systemd), or lower MaxPoolSize",
             s->table->max_pool_size, (unsigned long long)need, EACH,
             s->table->capacity.children, (unsigned long long)own(s),
             (unsigned long long)most.rlim_max);
}

/* ---- a new table ---- */

void apply_table_none(spawner_t *s)
{
    claim_recall(&s->rt, s->instance);
    s->table = apr_pcalloc(s->pool, sizeof *s->table);
    raise_limit(s);
}

int apply_table_refresh(spawner_t *s)
{
    char error[APP_TABLE_ERROR_MAX];
    app_table_t *new_table, *old = s->table;
    process_t *p;

    if (!has_changed(s))
        return 0;
    new_table = app_table_load(s->rt.fd, CONTRACT_TABLE, s->pool, error);
    if (new_table && old && old->instance[0] &&
        strcmp(new_table->instance, old->instance) != 0) {
        memcpy(error, "it is another instance's", 25);
        apr_pool_destroy(new_table->pool);
        new_table = NULL;
    }
    if (!new_table) {
        refuse(s, error);
        return 0;
    }
    if (refused[0])
        log_line(LOG_NOTICE, "the app table %s/%s is in force", s->rt.dir,
                 CONTRACT_TABLE);
    refused[0] = 0;
    if (old)
        keep_owners(new_table, old);
    s->table = new_table;
    s->rt.uid = new_table->httpd_uid;
    s->rt.gid = new_table->httpd_gid;
    memcpy(s->instance, new_table->instance, sizeof s->instance);
    make_link(s, CONTRACT_ERRORLOG, new_table->error_log);
    make_link(s, CONTRACT_ERRORFORMAT, new_table->error_format);
    log_level(new_table->log_level);
    for (p = s->processes; p; p = p->next)
        apply_table_configure(s, p);
    raise_limit(s);
    log_writer_reload();
    if (old)
        apr_pool_destroy(old->pool);
    due = 0;
    return 1;
}

/* ---- applying ---- */

static int locked_out(apr_status_t rv)
{
    return rv == APL_ELOCK;
}

apr_status_t apply_table_process(spawner_t *s, const process_t *p)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);

    return a ? apl_configure_group(&s->shm, &a->app, 1, s->now) : APR_SUCCESS;
}

static int configure_groups(spawner_t *s)
{
    char name[APL_NAME_MAX];
    apr_status_t rv;
    uint32_t i;

    for (i = 0; i < s->table->n; i++) {
        const app_entry_t *a = &s->table->apps[i];

        rv = apl_configure_group(&s->shm, &a->app, a->prestart, s->now);
        if (locked_out(rv))
            return -1;
        if (rv == APL_EFULL)
            app_log_about(a, LOG_ERROR,
                          "%s: the pool has no room for one more app",
                          a->label);
    }
    for (i = 1; i < s->shm.n.groups; i++)
        if (apl_configure_group_name(&s->shm, i, name) == APR_SUCCESS &&
            !app_table_find(s->table, name) &&
            locked_out(apl_configure_remove(&s->shm, name, s->now)))
            return -1;
    return 0;
}

/* Was the process made from another command, user or environment? While the
 * owner of AppRoot is not known, the owner counts as the same. A process that
 * found another owner than this table has (approot_owner.h) is not outdated by
 * the same table. */
int apply_table_is_outdated(const process_t *p, const app_entry_t *a)
{
    return a->print != p->is.print ||
           (a->owner != USERDB_NOBODY && p->is.uid != UINT32_MAX &&
            p->is.uid != a->owner && p->is.owner != a->owner);
}

static int replace_outdated(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        const app_entry_t *a = app_table_find(s->table, p->is.name);
        apr_status_t rv;

        if (!a || p->slot.outdated || !p->slot.listed ||
            !apply_table_is_outdated(p, a) || p->phase >= PHASE_ENDING)
            continue;
        rv = apl_supervise_outdate(&s->shm, p->is.id, s->now);
        if (locked_out(rv))
            return -1;
        p->slot.outdated = 1;
        if (rv == APR_SUCCESS)
            app_log(p, LOG_INFO,
                    "will be replaced: its configuration "
                    "changed");
    }
    return 0;
}

static int update_segment(spawner_t *s)
{
    if (locked_out(apl_configure_limits(&s->shm, s->table->max_pool_size,
                                        s->table->config, s->now)))
        return -1;
    return configure_groups(s) == 0 ? replace_outdated(s) : -1;
}

/* httpd finds the owner of AppRoot when it reads its configuration. A process
 * finds it when it begins. The newest of the processes that were made from this
 * table is right. */
static int find_users(spawner_t *s)
{
    const process_t *p;
    int found = 0;

    for (p = s->processes; p; p = p->next) {
        const app_entry_t *known = app_table_find(s->table, p->is.name);
        app_entry_t *a;

        if (!known || p->phase >= PHASE_ENDING || p->gone ||
            p->is.uid == USERDB_NOBODY || p->is.print != known->print ||
            p->is.owner != known->owner || p->is.began < known->uid_at)
            continue;
        a = &s->table->apps[known - s->table->apps];
        found |= a->uid != p->is.uid;
        a->uid = p->is.uid;
        a->uid_at = p->is.began;
    }
    return found;
}

int apply_table(spawner_t *s)
{
    int found = 0;

    if (s->now >= due) {
        found = find_users(s);
        due = update_segment(s) == 0 ? s->now + SECOND : s->now;
    }
    state_wake(s, due);
    return found;
}
