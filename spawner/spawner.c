/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spawner.c
 * @brief apppool-spawner: starts, watches and stops the processes of apps.
 *
 * It has no state that cannot be read again. If it is killed at any moment, the
 * watchdog starts it again, and it adopts all processes that run. It has one
 * thread and one loop, which never waits for an app, a disk of an app or a
 * client.
 */
#include "spawner/spawner.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/lock/lock_token.h"
#include "shm/verbs/history.h"
#include "shm/verbs/housekeeping.h"
#include "spawner/output/output.h"
#include "base/heartbeat.h"
#include "base/panic.h"
#include "spawner/process/sid_scan.h"
#include "spawner/control/control.h"
#include "spawner/process/job.h"
#include "spawner/process/mark_scan.h"
#include "spawner/process/claim.h"
#include "spawner/start/start.h"
#include "spawner/end/end.h"
#include "spawner/process/leftovers.h"
#include "system/log.h"
#include "spawner/process/process.h"
#include "system/daemonize.h"
#include "spawner/report/reports.h"
#include "system/kill_instance.h"
#include "system/clear_runtime_dir.h"
#include "shm/format/segment.h"

/* httpd's children may finish after their parent died. The watchdog acts
 * first. */
#define LIFE_LIMIT ((CONTRACT_ORPHANS + 2) * SECOND)
#define LOGS_STOP  10000 /* ms: longer than a command of AppLog may last */

static loop_source_t signals = {-1, NULL, NULL};
static loop_source_t doorbell = {-1, NULL, NULL};

/* ---- events ---- */

static void on_signal(void *owner, uint32_t events)
{
    struct signalfd_siginfo got;
    spawner_t *s = owner;

    (void)events;
    while (read(signals.fd, &got, sizeof got) == sizeof got)
        if (got.ssi_signo == SIGTERM)
            s->stopping = 1;
    s->unreaped = 1;
}

static void on_doorbell(void *owner, uint32_t events)
{
    spawner_t *s = owner;
    uint64_t rings;

    (void)events;
    s->rung = read(doorbell.fd, &rings, sizeof rings) > 0;
}

static int parent_is_dead(void)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};

    return poll(&parent, 1, 0) == 1;
}

/* Usually the watchdog says when to stop. It may have been killed with
 * httpd. */
static void look_for_httpd(spawner_t *s)
{
    static int64_t until;
    struct pollfd life = {CONTRACT_LIFE_FD, 0, 0};

    if (s->stopping || !parent_is_dead())
        return;
    if (until == 0)
        until = s->now + LIFE_LIMIT;
    /* There is no EOF while the parent lives, so this check comes second. */
    if (poll(&life, 1, 0) != 1 && s->now < until)
        return;
    log_line(LOG_NOTICE, "httpd is gone: all apps are stopped");
    s->stopping = 1;
}

/* ---- the loop ---- */

static void stop_all(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (!p->gone && !p->done) {
            heartbeat();
            phase_stop(s, p, "httpd stops");
        }
}

/* A process that repairs the pool has a request to serve, and does not log. */
static void log_repairs(const spawner_t *s)
{
    static uint64_t logged;
    uint64_t repairs = s->shm.header->counters.repairs;

    if (repairs > logged)
        log_line(LOG_NOTICE,
                 "the pool was repaired: a process died with the lock held, or "
                 "there was damage (%llu times since the start)",
                 (unsigned long long)repairs);
    logged = repairs;
}

/* Checks that are due once a second, and the housekeeping of the pool. */
static void keep_house(spawner_t *s)
{
    static int64_t tick_at, second_at;

    if (s->now >= second_at || s->rung)
        httpd_children_check(s);
    if (s->now >= second_at) {
        second_at = s->now + SECOND;
        audit_check(s);
        overdue_check(s);
        memory_limit_check(s);
        lock_rescue_check(s);
        stuck_report_check_slow(s);
        log_repairs(s);
        log_tick(0);
        apl_history_sample(&s->shm, s->now);
        usage_check(s);
    }
    audit_prove(s);
    if ((s->now >= tick_at || s->rung) &&
        apl_housekeeping_tick(&s->shm, s->now, &tick_at) != APR_SUCCESS)
        tick_at = s->now + SECOND / 10;
    s->rung = 0;
    state_wake(s, second_at);
    state_wake(s, tick_at);
}

static void turn(spawner_t *s)
{
    int64_t left = s->unreaped ? 0 : s->wake - apl_now();

    loop_wait(left <= 0 ? 0 : (int)(left / 1000) + 1);
    heartbeat();
    s->now = apl_now();
    s->wake = s->now + SECOND;
    s->shm.patience = APL_PATIENCE;
    loop_call();
    app_stderr_take(s);
    if (s->unreaped)
        life_reap(s);
    look_for_httpd(s);
    if (s->stopping)
        stop_all(s);
    else {
        if (apply_table_refresh(s)) {
            control_configure(s);
            store_log_open(s);
            start_failure_sweep(s);
            recent_output_sweep(s);
        }
        PANIC_UNLESS(s->table);
        if (apply_table(s))
            control_configure(s);
        keep_house(s);
        launch_orders(s);
        ready_check(s);
    }
    adopt_tick(s);
    life_tick(s);
    abandoned_check(s);
    control_tick(s);
    sid_scan_tick(s);
    mark_scan_tick(s);
    job_tick(s);
    leftovers_tick(s);
    alert_tick(s);
    log_writer_tick(s);
    process_collect(s);
}

/* ---- the figures of the store, for the status ----
 *
 * The store can write them. It cannot make the memory smaller, so a read never
 * fails. apl_report_store() reads them. */

/* A file that became smaller would end the reader by SIGBUS. */
static int is_firm(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &st) == 0 &&
           st.st_size >= (off_t)STORE_FIGURES_SIZE;
}

static const store_figures_t *map_figures(int fd)
{
    void *map = MAP_FAILED;

    if (is_firm(fd))
        map = mmap(NULL, STORE_FIGURES_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* ---- start ---- */

static void set_apart(void)
{
    int fd;

    signals.fd = daemonize(CONTRACT_SPAWNER_PROGRAM, 0);
    daemonize_oom_score("-900"); /* after the watchdog */
    umask(077);
    for (fd = CONTRACT_LIFE_FD; fd <= CONTRACT_LAST_FD; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (geteuid() == 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void watch_descriptors(spawner_t *s)
{
    int fd = dup(CONTRACT_DOORBELL_FD);

    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    loop_add(&doorbell, fd, EPOLLIN, on_doorbell, s);
    loop_add(&signals, signals.fd, EPOLLIN, on_signal, s);
}

/* For --stop without a segment: use an empty one. */
static void stand_in(spawner_t *s)
{
    apl_capacity_t none = {1, 1, 1, 1};
    void *memory = NULL;
    size_t size = apl_segment_size(&none);

    if (posix_memalign(&memory, APL_CACHE_LINE, size) != 0)
        abort();
    memset(memory, 0, size);
    apl_segment_format(&s->shm, memory, &none);
}

static int attach(spawner_t *s)
{
    char why[120];
    apr_status_t rv;

    rv = apl_segment_attach(&s->shm, CONTRACT_SEGMENT_FD, &s->table->capacity);
    if (rv == APR_SUCCESS)
        return 0;
    if (s->stopping) {
        stand_in(s);
        return 0;
    }
    log_line(LOG_ERROR, "the pool's shared memory cannot be attached: %s",
             apl_error_text(rv, why, sizeof why));
    return rv == APL_EFOREIGN ? CONTRACT_EXIT_CONFIG : 1;
}

static int begin(spawner_t *s)
{
    int rv;

    s->now = apl_now();
    if (!apply_table_refresh(s)) {
        if (!s->stopping)
            return 1;
        apply_table_none(s);
    }
    if (claim_instance(s) != 0)
        return 1;
    rv = attach(s);
    if (rv != 0)
        return rv;
    if (!s->stopping)
        control_begin(s);
    s->figures = map_figures(CONTRACT_FIGURES_FD);
    watch_descriptors(s);
    store_log_open(s);
    start_failure_sweep(s);
    start_failure_recall(s);
    adopt_all(s);
    return 0;
}

/* It runs for a while without the watchdog. The next start of httpd finds it by
 * the files that stay, and ends it first. */
static int store_runs(const spawner_t *s)
{
    pid_t pid;
    int fd = procfs_pidfd_of(s->rt.fd, CONTRACT_STORE, &pid);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void end(spawner_t *s)
{
    int alone;

    job_stop();
    log_writer_stop(LOGS_STOP);
    unlinkat(s->rt.fd, CONTRACT_SPAWNER, 0);
    unlinkat(s->rt.fd, CONTRACT_CONTROL, 0);
    /* If the watchdog lives, it does the same. */
    alone = parent_is_dead();
    if (alone)
        kill_instance(s->instance);
    log_tick(1);
    if (alone && !store_runs(s))
        clear_runtime_dir(s->rt.fd, s->rt.dir, 1);
}

static int usage(const char *what)
{
    fprintf(stderr,
            "usage: apppool-spawner RUNTIME-DIRECTORY [" CONTRACT_STOP "]\n"
            "It is started by apppool-watchdog, with its descriptors.\n"
            "apppool-spawner: %s\n",
            what);
    return CONTRACT_EXIT_CONFIG;
}

/* @return the directory beside this program that has the language helpers;
 * NULL: the program was not started by its path */
static char *helpers_beside(const char *program)
{
    const char *slash = strrchr(program, '/');
    char *path;

    if (program[0] != '/' || asprintf(&path, "%.*s/" CONTRACT_HELPERS,
                                      (int)(slash - program), program) < 0)
        return NULL;
    return path;
}

int spawner_main(int argc, char **argv)
{
    spawner_t *s = state_spawner();
    int rv;

    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf(CONTRACT_SPAWNER_VERSION "\n", APL_LAYOUT) < 0;
    if (argc == LOG_PROGRAM_ARGS && strcmp(argv[1], LOG_PROGRAM_WORD) == 0)
        return log_program_main(argv);
    if (argc < 2 || argc > 3 || argv[1][0] != '/' ||
        strlen(argv[1]) > CONTRACT_RUNTIME_MAX ||
        (argc == 3 && strcmp(argv[2], CONTRACT_STOP) != 0))
        return usage("one absolute path is wanted");
    if (fcntl(CONTRACT_DOORBELL_FD, F_GETFD) < 0 ||
        fcntl(CONTRACT_PARENT_FD, F_GETFD) < 0)
        return usage("its descriptors are not open");
    s->rt.dir = argv[1];
    s->helpers = helpers_beside(argv[0]);
    s->rt.fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->rt.fd < 0 || loop_open() != 0)
        return usage(strerror(errno));
    s->stopping = argc == 3;
    set_apart();
    log_directory(s->rt.fd);
    apr_initialize();
    apr_pool_create(&s->pool, NULL);
    rv = begin(s);
    if (rv != 0)
        return rv;
    while (!s->stopping || s->processes)
        turn(s);
    end(s);
    return CONTRACT_EXIT_DONE;
}
