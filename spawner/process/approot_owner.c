/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/approot_owner.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/privilege.h"

#define LINKS 40 /* as in the kernel */

typedef struct {
    int fd;              /* O_PATH: the directory that was reached; -1: none */
    struct stat st;      /* of that directory */
    char rest[PATH_MAX]; /* the rest of the path */
    int links;           /* symbolic links that were followed */
    uid_t owner;
} walk_t;

static int is_theirs(const walk_t *w, const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == w->owner;
}

/* Is it certain that no other user can replace this entry? */
static int is_held(const walk_t *w, const struct stat *entry)
{
    if (!is_theirs(w, &w->st))
        return 0;
    return (w->st.st_mode & 022) == 0 ||
           ((w->st.st_mode & S_ISVTX) && is_theirs(w, entry));
}

static int is_fuse(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) != 0 || fs.f_type == FUSE_SUPER_MAGIC;
}

static void stand_at(walk_t *w, int fd, const struct stat *st)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = fd;
    w->st = *st;
}

/* Begin at /. @return 0: that is not possible */
static int begin(walk_t *w)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return 0;
    stand_at(w, fd, &st);
    return 1;
}

/* Put the target of this symbolic link before the rest of the path. */
static int follow(walk_t *w, int link)
{
    char to[PATH_MAX], rest[PATH_MAX];
    ssize_t n = readlinkat(link, "", to, sizeof to - 1);

    if (n <= 0 || ++w->links > LINKS)
        return 0;
    to[n] = 0;
    memcpy(rest, w->rest, sizeof rest);
    if (snprintf(w->rest, sizeof w->rest, "%s/%s", to, rest) >=
        (int)sizeof w->rest)
        return 0;
    return to[0] == '/' ? begin(w) : 1;
}

/* Go to the next name of the path. @return 0: another user may have put it
 * there */
static int step(walk_t *w)
{
    char name[PATH_MAX];
    size_t n = strcspn(w->rest, "/");
    struct stat st;
    int fd, good;

    memcpy(name, w->rest, n);
    name[n] = 0;
    n += strspn(w->rest + n, "/");
    memmove(w->rest, w->rest + n, strlen(w->rest + n) + 1);
    if (!*name)
        return 1;
    fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    good = fstat(fd, &st) == 0 && !is_fuse(fd) && is_held(w, &st);
    if (good && !S_ISLNK(st.st_mode)) {
        stand_at(w, fd, &st);
        return 1;
    }
    good = good && follow(w, fd);
    close(fd);
    return good;
}

/* @param there filled in: stat() of the end of the path */
static int leads(const char *path, uid_t owner, struct stat *there)
{
    walk_t w = {.fd = -1, .owner = owner};
    int good =
        snprintf(w.rest, sizeof w.rest, "%s", path) < (int)sizeof w.rest &&
        begin(&w);

    while (good && *w.rest)
        good = step(&w);
    if (w.fd >= 0)
        close(w.fd);
    *there = w.st;
    return good;
}

int approot_owner_is_held(const char *path, uid_t owner)
{
    struct stat there;

    return leads(path, owner, &there) && S_ISDIR(there.st_mode) &&
           there.st_uid == owner;
}

int approot_owner_holds(const char *path, uid_t owner, const struct stat *file)
{
    struct stat there;

    return leads(path, owner, &there) && there.st_dev == file->st_dev &&
           there.st_ino == file->st_ino;
}

uid_t approot_owner_user(const app_entry_t *app)
{
    struct stat st;

    if (app->user || geteuid() != 0)
        return USERDB_NOBODY;
    if (stat(app->app.root, &st) != 0 || st.st_uid == app->owner)
        return app->owner;
    return st.st_uid == 0 || approot_owner_is_held(app->app.root, st.st_uid)
               ? st.st_uid
               : app->owner;
}
