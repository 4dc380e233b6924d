/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "system/beneath.h"

#define PREFIX "apppool-"

static int base = -1; /* OURS/apppool-INSTANCE */

/* ---- where we are ---- */

/* The line "0::PATH" of /proc/self/cgroup. @return 0, or -1 */
static int own_path(char *path, size_t size)
{
    char line[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");
    int rv = -1;

    while (file && rv != 0 && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        /* Above the root of the namespace there is no cgroup of ours. */
        if (strncmp(line, "0::/", 4) == 0 && !strstr(line, "/..")) {
            snprintf(path, size, "%s", line[4] ? line + 3 : "");
            rv = 0;
        }
    }
    if (file)
        fclose(file);
    return rv;
}

/* A line of mountinfo: ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [MORE...] -
 * TYPE SOURCE OPTIONS. If it is a cgroup2 that contains `own`, write POINT and
 * the part of `own` below ROOT. */
static int shows(char *line, const char *own, char *path, size_t size)
{
    const char *type = strstr(line, " - "), *root = NULL, *point = NULL;
    char *word, *rest = NULL;
    size_t n;
    int i;

    if (!type || strncmp(type, " - cgroup2 ", 11) != 0)
        return -1;
    word = strtok_r(line, " ", &rest);
    for (i = 0; word && i < 5; i++, word = strtok_r(NULL, " ", &rest)) {
        if (i == 3)
            root = word;
        else if (i == 4)
            point = word;
    }
    if (!point || strchr(point, '\\')) /* an escaped name: \040 is a space */
        return -1;
    n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(own, root, n) != 0 || (own[n] != 0 && own[n] != '/'))
        return -1;
    return snprintf(path, size, "%s%s", point, own + n) < (int)size ? 0 : -1;
}

/* Find the directory of the cgroup that we run in. @return 0, or -1 */
static int own_directory(char *path, size_t size)
{
    char line[PATH_MAX], own[PATH_MAX];
    FILE *file = NULL;
    int rv = -1, whole = 1;

    if (own_path(own, sizeof own) == 0)
        file = fopen("/proc/self/mountinfo", "re");
    while (file && rv != 0 && fgets(line, sizeof line, file)) {
        int begins = whole;

        whole = strchr(line, '\n') != NULL;
        if (begins && whole)
            rv = shows(line, own, path, size);
    }
    if (file)
        fclose(file);
    return rv;
}

/* Find the path of the cgroup of the instance. @return 0, or -1 */
static int instance_path(const char *instance, char *path, size_t size)
{
    char own[PATH_MAX];

    return own_directory(own, sizeof own) == 0 &&
                   snprintf(path, size, "%s/" PREFIX "%s", own, instance) <
                       (int)size
               ? 0
               : -1;
}

static int open_directory(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- files of a cgroup ---- */

static int write_to(int at, const char *name, const char *text)
{
    int rv, why, fd = openat(at, name, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    rv = write(fd, text, strlen(text)) < 0 ? -1 : 0;
    why = errno;
    close(fd);
    errno = why;
    return rv;
}

static int populated(int at, const char *name)
{
    char text[256];
    ssize_t n;
    int fd = openat(at, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return strstr(text, "populated 0") ? 0 : 1;
}

/* ID/FILE, or only ID. */
static void name_of(char name[64], uint64_t id, const char *file)
{
    snprintf(name, 64, CONTRACT_ID_FMT "%s", id, file);
}

/* ---- the instance's ---- */

int cgroup_open(const char *instance, char *text, size_t size)
{
    char path[PATH_MAX];

    if (instance_path(instance, path, sizeof path) != 0) {
        snprintf(text, size, "no mounted cgroup v2 shows the cgroup of httpd");
        return -1;
    }
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        base = open_directory(path);
    /* Kernels before 5.14 have no cgroup.kill. */
    if (base >= 0 && faccessat(base, "cgroup.kill", W_OK, AT_EACCESS) == 0 &&
        faccessat(base, "cgroup.procs", W_OK, AT_EACCESS) == 0 &&
        faccessat(base, "../cgroup.procs", W_OK, AT_EACCESS) == 0) {
        snprintf(text, size, "%s", path);
        return 0;
    }
    snprintf(text, size, "%s cannot be used: %s", path, strerror(errno));
    if (base >= 0)
        close(base);
    base = -1;
    rmdir(path);
    return -1;
}

/* @param pid "0": this process */
static int move(uint64_t id, const char *pid)
{
    char name[64], procs[64];
    int why;

    name_of(name, id, "");
    name_of(procs, id, "/cgroup.procs");
    if (base < 0)
        return 0;
    if (mkdirat(base, name, 0755) != 0)
        return -1;
    if (write_to(base, procs, pid) == 0)
        return 0;
    why = errno;
    unlinkat(base, name, AT_REMOVEDIR);
    errno = why;
    return -1;
}

int cgroup_enter(uint64_t id)
{
    return move(id, "0");
}

int cgroup_move(uint64_t id, pid_t pid)
{
    char text[16];

    snprintf(text, sizeof text, "%d", (int)pid);
    return move(id, text);
}

int cgroup_kill(uint64_t id)
{
    char name[64];

    name_of(name, id, "/cgroup.kill");
    return base < 0 ? -1 : write_to(base, name, "1");
}

int cgroup_populated(uint64_t id)
{
    char name[64];

    name_of(name, id, "/cgroup.events");
    return base < 0 ? -1 : populated(base, name);
}

int cgroup_members(uint64_t id, void (*each)(pid_t pid, void *ctx), void *ctx)
{
    char name[64];
    FILE *file;
    int fd, pid;

    name_of(name, id, "/cgroup.procs");
    fd = base < 0 ? -1 : openat(base, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return -1;
    }
    /* The kernel writes 0 for a process that has no number in our namespace. */
    while (fscanf(file, "%d", &pid) == 1)
        if (pid > 0)
            each(pid, ctx);
    fclose(file);
    return 0;
}

int cgroup_has(uint64_t id, pid_t pid)
{
    char path[32], line[PATH_MAX], end[64];
    FILE *file;
    int found = 0;

    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    snprintf(end, sizeof end, "/" CONTRACT_ID_FMT "\n", id);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *last = strrchr(line, '/');

        if (strncmp(line, "0::/", 4) == 0)
            found = strcmp(last, end) == 0;
    }
    if (file)
        fclose(file);
    return found;
}

int cgroup_descriptor(void)
{
    return base;
}

int cgroup_remove(uint64_t id)
{
    char name[64];

    name_of(name, id, "");
    return base < 0 || unlinkat(base, name, AT_REMOVEDIR) == 0 ||
                   errno == ENOENT
               ? 0
               : -1;
}

void cgroup_each(void (*each)(uint64_t id, void *ctx), void *ctx)
{
    int fd = base < 0 ? -1 : openat(base, ".", O_RDONLY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        char *end;
        uint64_t id = strtoull(entry->d_name, &end, 16);

        if (entry->d_type == DT_DIR && *end == 0 && end == entry->d_name + 16)
            each(id, ctx);
    }
    closedir(dir);
}

int cgroup_sweep(const char *instance)
{
    char path[PATH_MAX], *name;
    int fd, left;

    if (!*instance || instance_path(instance, path, sizeof path) != 0)
        return 0;
    fd = open_directory(path);
    if (fd < 0)
        return 0;
    write_to(fd, "cgroup.kill", "1");
    left = populated(fd, "cgroup.events") == 1;
    close(fd);
    if (left)
        return left;
    name = strrchr(path, '/');
    *name++ = 0;
    fd = open_directory(path);
    if (fd >= 0) {
        beneath_remove(fd, name);
        close(fd);
    }
    return 0;
}
