/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/process_files.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm/format/format.h"
#include "system/beneath.h"
#include "spawner/process/guarded_socket.h"
#include "base/userdb.h"

#define BACKLOG 1024

static const char *const kinds[] = {CONTRACT_SOCKETS, CONTRACT_OUTPUT,
                                    CONTRACT_NOTIFY, CONTRACT_OWN};
#define FILES 3 /* the first three hold files of root's */

static int own(const runtime_dir_t *rt, const char *name, mode_t mode,
               uid_t uid, gid_t gid)
{
    /* The directories. Only root may put files into them. */
    if (geteuid() == 0 && fchownat(rt->fd, name, uid, gid, 0) != 0)
        return -1;
    return fchmodat(rt->fd, name, mode, 0);
}

int process_files_prepare(const runtime_dir_t *rt)
{
    static const struct {
        const char *name;
        mode_t mode;
        int shared; /* httpd's group may enter it */
    } dirs[] = {{CONTRACT_SOCKETS, 0710, 1},
                {CONTRACT_OWN, 0711, 0},
                {CONTRACT_OUTPUT, 0700, 0},
                {CONTRACT_NOTIFY, 0711, 0},
                {CONTRACT_FAILURES, 0710, 1}};
    size_t i;

    for (i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        if (mkdirat(rt->fd, dirs[i].name, 0700) != 0 && errno != EEXIST)
            return -1;
        if (own(rt, dirs[i].name, dirs[i].mode, geteuid(),
                dirs[i].shared ? rt->gid : getegid()) != 0)
            return -1;
    }
    return 0;
}

void process_files_path(const runtime_dir_t *rt, const char *kind, uint64_t id,
                        process_files_path_t path)
{
    snprintf(path, sizeof(process_files_path_t), "%s/%s/" CONTRACT_ID_FMT "%s",
             rt->dir, kind, id, strcmp(kind, CONTRACT_OWN) == 0 ? "/s" : "");
}

const char *process_files_kind(uint32_t listen)
{
    return listen == APL_LISTEN_UNIX ? CONTRACT_OWN : CONTRACT_SOCKETS;
}

static void name_of(char name[24], const char *kind, uint64_t id)
{
    snprintf(name, 24, "%s/" CONTRACT_ID_FMT, kind, id);
}

static struct sockaddr_un address(const runtime_dir_t *rt, const char *kind,
                                  uint64_t id)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    process_files_path_t path;

    process_files_path(rt, kind, id, path);
    memcpy(to.sun_path, path, sizeof path);
    return to;
}

/* Bind a socket to KIND/ID. It has mode 0600 by the umask. */
static int bound(const runtime_dir_t *rt, const char *kind, uint64_t id,
                 int type)
{
    struct sockaddr_un to = address(rt, kind, id);
    char name[24];
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    name_of(name, kind, id);
    if (fd < 0)
        return -1;
    guarded_socket_begin(fd);
    unlinkat(rt->fd, name, 0);
    if (bind(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
        fchmodat(rt->fd, name, 0600, 0) == 0)
        return fd;
    close(fd);
    return -1;
}

int process_files_listen(const runtime_dir_t *rt, uint64_t id)
{
    char name[24];
    int fd = bound(rt, CONTRACT_SOCKETS, id, SOCK_STREAM);

    if (fd < 0)
        return -1;
    /* Servers expect a listening socket that blocks. */
    if (fcntl(fd, F_SETFL, 0) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    close(fd);
    name_of(name, CONTRACT_SOCKETS, id);
    unlinkat(rt->fd, name, 0);
    return -1;
}

int process_files_socket(const runtime_dir_t *rt, uint64_t id, uid_t uid)
{
    char name[24];
    struct stat st;
    int fd = -1, dir;

    name_of(name, CONTRACT_OWN, id);
    dir = uid == USERDB_NOBODY
              ? -1
              : beneath_open(rt->fd, name, O_PATH | O_DIRECTORY);
    if (dir >= 0) {
        fd = beneath_open(dir, "s", O_PATH);
        close(dir);
    }
    if (fd < 0) {
        errno = errno == EXDEV || errno == ELOOP ? ENOTSOCK : ENOENT;
        return -1;
    }
    if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == uid)
        return fd;
    close(fd);
    errno = ENOTSOCK;
    return -1;
}

void process_files_unlisten(const runtime_dir_t *rt, uint64_t id)
{
    char name[24];

    name_of(name, CONTRACT_SOCKETS, id);
    unlinkat(rt->fd, name, 0);
}

/* Use the descriptor, because the name may belong to another file by now. */
static void name_entry(char name[32], int entry)
{
    snprintf(name, 32, "/proc/self/fd/%d", entry);
}

int process_files_stat(const runtime_dir_t *rt, uint64_t id, int entry,
                       struct stat *st)
{
    char name[24];

    name_of(name, CONTRACT_SOCKETS, id);
    return entry >= 0 ? fstat(entry, st)
                      : fstatat(rt->fd, name, st, AT_SYMLINK_NOFOLLOW);
}

int process_files_admit(const runtime_dir_t *rt, uint64_t id, int entry)
{
    char from[32], name[24];

    name_of(name, CONTRACT_SOCKETS, id);
    if (entry < 0)
        return own(rt, name, 0600, rt->uid, rt->gid);
    name_entry(from, entry);
    unlinkat(rt->fd, name, 0);
    if (linkat(AT_FDCWD, from, rt->fd, name, AT_SYMLINK_FOLLOW) != 0)
        return -1;
    return own(rt, name, 0660, (uid_t)-1, rt->gid);
}

int process_files_notify(const runtime_dir_t *rt, uint64_t id)
{
    return bound(rt, CONTRACT_NOTIFY, id, SOCK_DGRAM);
}

int process_files_give(const char *path, uid_t uid, gid_t gid)
{
    return uid == (uid_t)-1 ? 0 : lchown(path, uid, gid);
}

int process_files_output(const runtime_dir_t *rt, uint64_t id)
{
    char name[24];

    name_of(name, CONTRACT_OUTPUT, id);
    unlinkat(rt->fd, name, 0);
    if (mkfifoat(rt->fd, name, 0600) != 0)
        return -1;
    return process_files_output_again(rt, id);
}

int process_files_output_again(const runtime_dir_t *rt, uint64_t id)
{
    char name[24];

    name_of(name, CONTRACT_OUTPUT, id);
    return openat(rt->fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
}

int process_files_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int port = -1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &length) == 0)
        port = ntohs(at.sin_port);
    close(fd);
    return port;
}

int process_files_remove(const runtime_dir_t *rt, uint64_t id)
{
    char name[24];
    size_t i;
    int dir;

    for (i = 0; i < FILES; i++) {
        name_of(name, kinds[i], id);
        unlinkat(rt->fd, name, 0);
    }
    name_of(name, CONTRACT_OWN, id);
    dir = beneath_open(rt->fd, name, O_PATH | O_DIRECTORY);
    if (dir >= 0) {
        unlinkat(dir, "s", 0);
        close(dir);
    }
    return unlinkat(rt->fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT;
}

int process_files_clear(const runtime_dir_t *rt, uint64_t id)
{
    char name[24];

    name_of(name, CONTRACT_OWN, id);
    beneath_remove(rt->fd, name);
    return faccessat(rt->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void process_files_each(const runtime_dir_t *rt,
                        void (*each)(uint64_t id, void *ctx), void *ctx)
{
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int fd = openat(rt->fd, kinds[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        const struct dirent *entry;

        while (dir && (entry = readdir(dir)) != NULL) {
            char *end;
            uint64_t id = strtoull(entry->d_name, &end, 16);

            if (*end == 0 && end == entry->d_name + 16)
                each(id, ctx);
        }
        if (dir)
            closedir(dir);
    }
}

static int connected(int fd, const void *to, socklen_t length)
{
    if (fd < 0)
        return -1;
    if (connect(fd, to, length) == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

int process_files_connect(const runtime_dir_t *rt, uint64_t id,
                          const apl_wire_t *wire, int entry)
{
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

    if (wire->listen == APL_LISTEN_TCP) {
        struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)wire->port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

        return connected(socket(AF_INET, type, 0), &to, sizeof to);
    }
    else {
        struct sockaddr_un to = address(rt, CONTRACT_SOCKETS, id);
        int fd = socket(AF_UNIX, type, 0);

        if (entry >= 0)
            name_entry(to.sun_path, entry);
        if (fd >= 0)
            guarded_socket_begin(fd);
        return connected(fd, &to, sizeof to);
    }
}

static int write_as(const runtime_dir_t *rt, const char *name, int flags,
                    const char *text)
{
    size_t length = strlen(text);
    int ok, fd = openat(rt->fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags,
                        0600);

    if (fd < 0)
        return -1;
    ok = write(fd, text, length) == (ssize_t)length;
    close(fd);
    return ok ? 0 : -1;
}

int process_files_write(const runtime_dir_t *rt, const char *name,
                        const char *text)
{
    char temp[40];

    snprintf(temp, sizeof temp, "%s.new", name);
    if (write_as(rt, temp, O_CREAT | O_TRUNC, text) == 0 &&
        renameat(rt->fd, temp, rt->fd, name) == 0)
        return 0;
    unlinkat(rt->fd, temp, 0);
    /* The disk is full, but the old file has its blocks. */
    return write_as(rt, name, 0, text);
}
