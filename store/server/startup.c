/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/startup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/note.h"
#include "base/heartbeat.h"
#include "base/privilege.h"

/* More connections than that need more than one store. */
#define DESCRIPTORS (1 << 20)
#define TABLE       (&CONTRACT_STORE_TABLE[sizeof CONTRACT_STORES])

static int usage(const char *what)
{
    fprintf(stderr,
            "usage: apppool-store RUNTIME-DIRECTORY\n"
            "It is started by apppool-watchdog, with its descriptors.\n"
            "apppool-store: %s\n",
            what);
    return CONTRACT_EXIT_CONFIG;
}

int store_startup_check(int argc, char **argv)
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
    return st.st_nlink != 1 ? "it has another name, by a hard link" : NULL;
}

/* @return -1: that was logged */
static int open_file(const char *path, const char *loss)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    const char *wrong = why_not(fd);

    if (!wrong)
        return fd;
    store_note(STORE_WARN, "AppStoreSave %s: %s; %s", path, wrong, loss);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Root's files in a directory of root's. The store writes them in place, so it
 * needs no right in that directory. The name comes from a link in the directory
 * of root: what the store's user can write must not name a file that root
 * opens. */
static void open_save(store_startup_t *s, int dirfd)
{
    char path[PATH_MAX];
    ssize_t n =
        readlinkat(dirfd, CONTRACT_STORE_SAVE, path, sizeof path - sizeof ".2");

    s->save.fd[0] = s->save.fd[1] = -1;
    if (n <= 0)
        return;
    path[n] = 0;
    s->save.fd[0] =
        open_file(path, "a stop of httpd loses what the store holds");
    memcpy(path + n, ".2", sizeof ".2");
    if (s->save.fd[0] >= 0)
        s->save.fd[1] = open_file(path, "there is no save but at a stop");
}

store_config_t *store_startup_config(const store_startup_t *s)
{
    char error[STORE_CONFIG_ERROR];
    store_config_t *config = store_config_read(s->socketsfd, TABLE, error);

    if (!config)
        store_note(STORE_ERROR, "the store cannot read %s/%s: %s", s->sockets,
                   TABLE, error);
    return config;
}

int store_startup_has_table(const store_startup_t *s)
{
    struct stat st;

    if (faccessat(s->socketsfd, TABLE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
        errno != ENOENT)
        return 1;
    /* A takeover removes the table alone. If httpd is dead, the spawner has
     * removed the directory, too. */
    return fstat(s->socketsfd, &st) == 0 && st.st_nlink == 0;
}

int store_startup(store_startup_t *s, const char *runtime,
                  store_config_t **config)
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
    if (!store_startup_has_table(s))
        return CONTRACT_EXIT_REPLACED;
    *config = store_startup_config(s);
    return *config ? 0 : CONTRACT_EXIT_CONFIG;
}
