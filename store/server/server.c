/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file server.c
 * @brief apppool-store: a memcached for the apps of the pool.
 *
 * The main thread accepts connections and hands them to the workers. It reads
 * the configuration when the bell rings, and does what is due each second. What
 * the store holds is in a memfd of httpd's parent. If the store is killed, the
 * watchdog starts it again, and it goes on with all items.
 */
#include "store/server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/contract.h"
#include "base/heartbeat.h"
#include "base/privilege.h"
#include "store/cluster/relay.h"
#include "store/cluster/role.h"
#include "store/memory/item.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/server/accept.h"
#include "store/server/cluster_host.h"
#include "store/server/mailbox.h"
#include "store/server/main_loop.h"
#include "store/server/password.h"
#include "store/server/save.h"
#include "store/server/saver.h"
#include "store/server/snapshot_load.h"
#include "store/server/spaces.h"
#include "store/server/stop_signal.h"
#include "store/server/store_config.h"
#include "store/server/store_listener.h"
#include "store/server/sweeper_thread.h"
#include "store/server/takeover.h"
#include "store/server/vip_clients.h"

/* More connections than that need more than one store. */
#define DESCRIPTORS (1 << 20)
#define TABLE       (&CONTRACT_STORE_TABLE[sizeof CONTRACT_STORES])

typedef struct {
    char sockets[CONTRACT_RUNTIME_MAX + 8]; /* CONTRACT_STORES, absolute */
    int socketsfd;                          /* that directory */
    store_save_files_t save;                /* for the items at a stop */
    int signals;                            /* SIGTERM is read from it */
} startup_t;

/* ---- from a process of root to one of the store's user ---- */

static int usage(const char *what)
{
    fprintf(stderr,
            "usage: apppool-store RUNTIME-DIRECTORY\n"
            "It is started by apppool-watchdog, with its descriptors.\n"
            "apppool-store: %s\n",
            what);
    return CONTRACT_EXIT_CONFIG;
}

/* @return 0, or an exit code */
static int check_arguments(int argc, char **argv)
{
    static const int needed[] = {CONTRACT_LIFE_FD,    CONTRACT_PARENT_FD,
                                 CONTRACT_ITEMS_FD,   CONTRACT_FIGURES_FD,
                                 CONTRACT_MAILBOX_FD, CONTRACT_MAILBOX_END_FD,
                                 CONTRACT_BELL_FD};
    size_t i;

    if (argc != 2 || argv[1][0] != '/' ||
        strlen(argv[1]) > CONTRACT_RUNTIME_MAX)
        return usage("one absolute path is wanted");
    for (i = 0; i < sizeof needed / sizeof *needed; i++)
        if (fcntl(needed[i], F_SETFD, FD_CLOEXEC) < 0)
            return usage("its descriptors are not open");
    return 0;
}

/* ---- signals, descriptors, limits ---- */

/* httpd signals its process group, and a terminal may do so as well. */
static int open_signals(void)
{
    static const int ignored[] = {SIGINT,  SIGHUP,  SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGXFSZ};
    sigset_t mask;
    size_t i;

    setsid();
    prctl(PR_SET_NAME, CONTRACT_STORE_PROGRAM, 0, 0, 0);
    for (i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Each connection is a descriptor. Without root's rights the hard limit
 * stays. */
static void raise_limits(void)
{
    struct rlimit files = {DESCRIPTORS, DESCRIPTORS}, none = {0, 0};

    if (setrlimit(RLIMIT_NOFILE, &files) != 0 &&
        getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    setrlimit(RLIMIT_CORE, &none);
}

/* ---- the user ---- */

static int become(const struct stat *owner)
{
    privilege_t account = {.uid = owner->st_uid, .gid = owner->st_gid};
    char error[PRIVILEGE_ERROR_MAX];

    snprintf(account.name, sizeof account.name, "%lu",
             (unsigned long)owner->st_uid);
    if (geteuid() == 0 && (account.uid == 0 || account.gid == 0)) {
        store_note(STORE_ERROR,
                   "the store does not run as root: AppStoreUser has "
                   "to name another user");
        return CONTRACT_EXIT_CONFIG;
    }
    if (privilege_groups(&account, error) != 0 ||
        privilege_drop(&account, 0, error) != 0) {
        store_note(STORE_ERROR, "%s", error);
        return 1;
    }
    /* Other processes of that user must not read the items of all spaces. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return 0;
}

/* Only the owner of a file may set its time. */
static void begin_heartbeat(int dirfd, const struct stat *owner)
{
    heartbeat_begin(dirfd, CONTRACT_STORE_HEARTBEAT);
    if (geteuid() == 0 &&
        fchownat(dirfd, CONTRACT_STORE_HEARTBEAT, owner->st_uid, owner->st_gid,
                 AT_SYMLINK_NOFOLLOW) != 0)
        store_note(STORE_WARN,
                   "the heartbeat of the store cannot be given to its "
                   "user: %s",
                   strerror(errno));
}

/* The items of all spaces are for nobody else.
 * @return what is wrong with it; NULL: nothing */
static const char *why_not(int fd)
{
    struct stat st;

    if (fd < 0)
        return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    if (fstat(fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "it is not a regular file";
    if (st.st_uid != geteuid())
        return "it belongs to another user than the one that has started "
               "httpd";
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return "others than its owner can use it: chmod 600";
    return st.st_nlink != 1 ? "it has another name, by a hard link"
                            : store_snapshot_why_not(fd);
}

#define LOSS "a stop of httpd loses what the store holds"

/* @param newer set to 1 if a newer build has saved it
 * @return -1: that was logged */
static int open_file(const char *path, const char *loss, int *newer)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    const char *wrong = why_not(fd);

    if (!wrong)
        return fd;
    *newer |= strcmp(wrong, STORE_SNAPSHOT_NEWER) == 0;
    store_note(STORE_WARN, "AppStoreSave %s: %s; %s", path, wrong, loss);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The second file, where the first one cannot be used: a bad block at its
 * beginning is enough for that. It is used only if it has a whole save.
 * @return -1: it is not there, or that was logged */
static int open_second_alone(const char *path, int *newer)
{
    store_snapshot_head_t head;
    int fd = access(path, F_OK) == 0 ? open_file(path, LOSS, newer) : -1;

    if (fd < 0 || (store_snapshot_look(fd, &head) && head.whole))
        return fd;
    close(fd);
    return -1;
}

/* Root's files in a directory of root's. The store writes them in place, so it
 * needs no right in that directory. The name comes from a link in the directory
 * of root: what the store's user can write must not name a file that root
 * opens. */
static void open_save(startup_t *s, int dirfd)
{
    int *fd = s->save.fd, newer = 0;
    char path[PATH_MAX];
    ssize_t n =
        readlinkat(dirfd, CONTRACT_STORE_SAVE, path, sizeof path - sizeof ".2");

    fd[0] = fd[1] = -1;
    if (n <= 0)
        return;
    path[n] = 0;
    fd[0] = open_file(path, LOSS, &newer);
    memcpy(path + n, ".2", sizeof ".2");
    if (fd[0] >= 0)
        fd[1] = open_file(path, "there is no save but at a stop", &newer);
    else if (!newer)
        fd[0] = open_second_alone(path, &newer);
    if (newer && fd[0] >= 0) {
        /* The second file has newer data than the first one can have. */
        close(fd[0]);
        fd[0] = -1;
        store_note(STORE_WARN, "AppStoreSave: both files stay; " LOSS);
    }
}

/* @return NULL: that was logged */
static store_config_t *read_config(const startup_t *s)
{
    char error[STORE_CONFIG_ERROR];
    store_config_t *config = store_config_read(s->socketsfd, TABLE, error);

    if (!config)
        store_note(STORE_ERROR, "the store cannot read %s/%s: %s", s->sockets,
                   TABLE, error);
    return config;
}

/* 0: httpd has removed the table, because the store of another build takes
 * over. 1: it is there, or somebody has removed its directory. */
static int has_table_of(const startup_t *s)
{
    struct stat st;

    if (faccessat(s->socketsfd, TABLE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
        errno != ENOENT)
        return 1;
    /* A takeover removes the table alone. */
    return fstat(s->socketsfd, &st) == 0 && st.st_nlink == 0;
}

/* Open what only root can open, and become the owner of CONTRACT_STORES.
 * @param config gets the configuration, which the caller frees
 * @return 0, or an exit code. That was logged */
static int start_up(startup_t *s, const char *runtime, store_config_t **config)
{
    struct stat owner;
    int dirfd, rv;

    s->signals = open_signals();
    umask(077);
    dirfd = open(runtime, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0 || s->signals < 0)
        return usage(strerror(errno));
    store_note_open(dirfd);
    snprintf(s->sockets, sizeof s->sockets, "%s/%s", runtime, CONTRACT_STORES);
    s->socketsfd = openat(dirfd, CONTRACT_STORES,
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->socketsfd < 0 || fstat(s->socketsfd, &owner) != 0) {
        store_note(STORE_ERROR, "%s: %s", s->sockets, strerror(errno));
        return CONTRACT_EXIT_CONFIG;
    }
    begin_heartbeat(dirfd, &owner);
    raise_limits();
    open_save(s, dirfd);
    close(dirfd);
    rv = become(&owner);
    if (rv != 0)
        return rv;
    if (!has_table_of(s))
        return CONTRACT_EXIT_REPLACED;
    *config = read_config(s);
    return *config ? 0 : CONTRACT_EXIT_CONFIG;
}

/* ---- the server ---- */

#define TURN    1000 /* ms: a turn of the loop is not longer */
#define HURRIED 100  /* ms: nor than that while the role may change */
#define STOPPED (-1) /* it has to end before it has served anybody */

static struct {
    startup_t startup;
    store_server_t server;
    store_worker_t worker[STORE_THREADS];
    unsigned threads; /* that the configuration wants */
    unsigned started; /* workers */
    int has_begun;    /* to serve */
    int stopping;
    int replaced; /* the store of another build takes over */
    int hangs;    /* a worker has had no round since the last tick */
    int64_t now;
    int64_t tick_at;
} server;

/* ---- the loop ---- */

static void on_signals(void *ctx)
{
    (void)ctx;
    server.stopping |= store_stop_signal_came();
}

static void apply(store_config_t *config)
{
    int lost = store_spaces_apply(config);
    unsigned i;

    store_password_update(&config->cluster);
    store_save_configure(config->save_time, config->save_every);
    store_saver_configure(config->save_every);
    store_cluster_host_confirm();
    if (!lost)
        return;
    for (i = 0; i < server.server.threads; i++)
        store_worker_look(&server.worker[i]);
    if (store_role() == STORE_SLAVE)
        store_relay_look();
}

static int has_table(void)
{
    return has_table_of(&server.startup);
}

static int is_for_next_start(const store_config_t *config)
{
    return config->threads != server.threads ||
           config->max_object != server.server.max_object;
}

static void on_bell(void *ctx)
{
    store_config_t *config;
    uint64_t rings;

    (void)ctx;
    if (read(CONTRACT_BELL_FD, &rings, sizeof rings) < 0 && errno == EAGAIN)
        return;
    server.replaced = !has_table();
    config = server.replaced ? NULL : read_config(&server.startup);
    if (!config)
        return;
    apply(config);
    if (is_for_next_start(config))
        store_note(STORE_INFO,
                   "AppStoreThreads and AppStoreMaxObject change with the next "
                   "start of the store");
    if (!store_cluster_host_is(&config->cluster))
        store_note(STORE_INFO,
                   "AppStoreVirtualIP, AppStorePeers and the other directives "
                   "of a cluster change with the next start of the store");
    store_config_free(config);
}

/* The heartbeat is that of all threads that serve connections. */
static void look_at_workers(void)
{
    unsigned i;

    server.hangs = 0;
    for (i = 0; i < server.server.threads; i++)
        server.hangs |= !store_worker_runs(&server.worker[i]);
}

static void tick(void)
{
    if (store_role_is_hurried() || server.now >= server.tick_at)
        store_cluster_host_tick(server.now);
    if (server.now < server.tick_at)
        return;
    server.tick_at = server.now + TURN;
    look_at_workers();
    store_spaces_tick(server.now);
    store_tcp_listener_open();
    server.stopping |= store_stop_signal_is_orphan(server.now);
}

static void on_listener(void *ctx)
{
    store_served_t *s = ctx;

    server.now = clock_ms();
    if (s->listener >= 0)
        store_accept(s, s->listener, server.now);
}

static void on_older_socket(const char *space, int fd)
{
    store_served_t *s = store_spaces_find(space);

    server.now = clock_ms();
    if (s)
        store_accept(s, fd, server.now);
}

static void on_tcp_listener(void *ctx)
{
    const store_tcp_listener_t *l = ctx;

    server.now = clock_ms();
    if (l->fd >= 0 && store_tcp_listener_is_vip(l))
        store_vip_clients_accept(l->fd);
    else if (l->fd >= 0)
        store_accept_tcp(l, server.now);
}

static int watch_listener(store_served_t *s)
{
    return store_loop_watch(s->listener, on_listener, s);
}

static void unwatch_listener(store_served_t *s)
{
    store_loop_unwatch(s->listener);
}

static void turn(void)
{
    int64_t left, limit = store_role_is_hurried() ? HURRIED : TURN;

    server.now = clock_ms();
    left = store_spaces_grow() ? 0 : server.tick_at - server.now;
    store_loop_turn(left < 0 ? 0 : (int)(left < limit ? left : limit));
    server.now = clock_ms();
    tick();
    if (!server.hangs)
        heartbeat();
}

/* ---- start and end ---- */

static unsigned choose_threads(unsigned wanted)
{
    cpu_set_t cpus;
    unsigned n = sched_getaffinity(0, sizeof cpus, &cpus) == 0
                     ? (unsigned)CPU_COUNT(&cpus)
                     : 1;

    return wanted < n ? wanted : n > 0 ? n : 1;
}

static int start_threads(void)
{
    unsigned i, n = server.server.threads;

    for (i = 0; i < n; i++, server.started++)
        if (store_worker_start(&server.worker[i], i, &server.server) != 0)
            return -1;
    store_accept_begin(server.worker, n);
    if (store_saver_start(&server.startup.save) != 0)
        return -1;
    return store_sweeper_thread_start(store_spaces_nth);
}

static void log_start(int64_t began)
{
    store_figures_t *f = store_region_figures();
    uint64_t recovered = 0, dropped = 0;
    const store_served_t *s;
    unsigned n = 0;

    for (s = store_spaces_list(); s; s = s->next, n++) {
        recovered += s->space->figures->recovered;
        dropped += s->space->figures->dropped;
    }
    f->threads = server.server.threads;
    f->recovery_us = (uint64_t)(clock_ms() - began) * 1000 + 1;
    store_note(
        STORE_NOTICE,
        "process %d has started: %u space%s, recovered %llu item%s, dropped "
        "%llu, in %lld ms",
        (int)getpid(), n, n == 1 ? "" : "s", (unsigned long long)recovered,
        recovered == 1 ? "" : "s", (unsigned long long)dropped,
        (long long)(clock_ms() - began));
}

/* @return 0, or an exit code */
static int open_region(void)
{
    int is_mine = store_takeover_wait(CONTRACT_ITEMS_FD, has_table,
                                      store_stop_signal_came);

    if (is_mine == 0)
        return CONTRACT_EXIT_REPLACED;
    if (is_mine > 0 &&
        store_region_open(CONTRACT_ITEMS_FD, CONTRACT_FIGURES_FD) == 0)
        return 0;
    store_note(STORE_ERROR, "the memory of the store cannot be used: %s",
               errno == EINVAL ? "it has another format" : strerror(errno));
    return errno == EINVAL ? CONTRACT_EXIT_CONFIG : 1;
}

static int fail(void)
{
    store_note(STORE_ERROR, "the store cannot be started: %s", strerror(errno));
    return 1;
}

/* @return 0, or an exit code */
static int serve(const store_config_t *config, int64_t began)
{
    if (store_loop_watch(server.startup.signals, on_signals, NULL) != 0 ||
        store_loop_watch(CONTRACT_BELL_FD, on_bell, NULL) != 0 ||
        start_threads() != 0)
        return fail();
    log_start(began);
    if (store_cluster_host_begin(&config->cluster, server.worker,
                                 server.server.threads) != 0)
        return 1;
    server.has_begun = 1;
    store_cluster_host_admit_root(server.startup.sockets);
    return 0;
}

/* @return 0, an exit code, or STOPPED */
static int begin(const char *runtime)
{
    static store_spaces_hooks_t hooks = {.watch = watch_listener,
                                         .unwatch = unwatch_listener};
    int64_t began = clock_ms();
    store_config_t *config;
    int rv = start_up(&server.startup, runtime, &config);

    store_stop_signal_begin(server.startup.signals);
    if (rv == 0)
        rv = open_region();
    if (rv != 0)
        return rv;
    if (store_loop_begin() != 0)
        return fail();
    server.threads = config->threads;
    server.server.threads = choose_threads(config->threads);
    server.server.max_object = config->max_object;
    server.server.max_connections = 1024;
    server.server.can_confirm = store_cluster_host_can_confirm;
    store_item_max = config->max_object;
    hooks.directory = server.startup.sockets;
    store_spaces_begin(&hooks);
    store_tcp_listener_begin(&config->cluster, on_tcp_listener);
    store_listener_begin_older(on_older_socket);
    store_mailbox_open(CONTRACT_MAILBOX_FD, CONTRACT_MAILBOX_END_FD);
    /* Clients wait in the backlog of the listeners until all is loaded. */
    apply(config);
    if (!store_save_load(&server.startup.save)) {
        store_config_free(config);
        return STOPPED;
    }
    store_save_load_large();
    /* One that has to stop saves what it has, and joins no cluster before. */
    if (!store_stop_signal_came())
        rv = serve(config, began);
    store_config_free(config);
    server.stopping = store_stop_signal_came();
    return server.stopping ? 0 : rv;
}

static void stop_threads(void)
{
    unsigned i;

    if (server.has_begun) {
        store_cluster_host_end();
    }
    store_saver_stop();
    for (i = 0; i < server.started; i++)
        store_worker_stop(&server.worker[i]);
    store_sweeper_thread_stop();
    store_spaces_end();
    server.has_begun = 0;
    server.started = 0;
}

static int end(void)
{
    store_note_directly();
    store_spaces_stop();
    stop_threads();
    store_save_save(&server.startup.save);
    return CONTRACT_EXIT_DONE;
}

/* What it would have served is still in the file of the last stop. */
static int end_before_it_served(void)
{
    store_note_directly();
    store_spaces_stop();
    return CONTRACT_EXIT_DONE;
}

/* The next process finds all items in memory, and the listeners in the mailbox.
 */
static int end_for_another_role(void)
{
    stop_threads();
    return store_stop_signal_came() ? end() : CONTRACT_EXIT_AGAIN;
}

/* End, because the next process is of another instance. */
static int end_for_another_build(void)
{
    store_note(STORE_NOTICE, "the store of another build takes over");
    stop_threads();
    return CONTRACT_EXIT_REPLACED;
}

int store_server_main(int argc, char **argv)
{
    int rv;

    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts(CONTRACT_STORE_VERSION) < 0;
    rv = check_arguments(argc, argv);
    if (rv == 0)
        rv = begin(argv[1]);
    /* Without a table, the listeners are those of the next store, too. */
    if (rv == STOPPED)
        return has_table() ? end_before_it_served() : CONTRACT_EXIT_REPLACED;
    if (rv != 0)
        return rv;
    while (!server.stopping && !server.replaced && !store_role_is_over())
        turn();
    /* Also if SIGTERM came before the bell was read. */
    if (server.replaced || !has_table())
        return end_for_another_build();
    return server.stopping ? end() : end_for_another_role();
}
