/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/heartbeat.h"
#include "ctl/ask_server.h"
#include "ctl/commands.h"
#include "ctl/values.h"

#define BEAT      20          /* s: a program that works has a younger one */
#define BEATS     3           /* s: a program that works makes one meanwhile */
#define ROOM      (16u << 20) /* bytes that a disk should have left */
#define INODES    1000        /* and files */
#define USED_PART 0.9         /* of the descriptors */

/* ---- processes ---- */

static const char *path_of(const doctor_t *d, const char *name,
                           char to[PATH_MAX])
{
    ask_path(d->dir, name, to, PATH_MAX);
    return to;
}

/* Its start time tells a process from a later one of the same pid. */
static int is_same(pid_t pid, unsigned long long start)
{
    char path[64], line[1024], *end;
    unsigned long long found = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) &&
        (end = strrchr(line, ')')) != NULL)
        sscanf(end,
               ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
               "%*d %*d %*d %*d %llu",
               &found);
    if (file)
        fclose(file);
    return found == start;
}

/* @return the process that a file of "PID START" names; 0: it does not run, or
 * there is no such file */
static pid_t process_of(const doctor_t *d, const char *name)
{
    char path[PATH_MAX];
    FILE *file = fopen(path_of(d, name, path), "re");
    unsigned long long start;
    int pid = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%d %llu", &pid, &start) != 2 || pid <= 0 ||
        !is_same(pid, start))
        pid = 0;
    fclose(file);
    return pid;
}

/* Wait for the next heartbeat. @return 0: there was none */
static int beats(const char *path)
{
    static const struct timespec pause = {0, 100000000};
    double end = values_clock() + BEATS;
    heartbeat_t seen = {0};

    heartbeat_check(&seen, AT_FDCWD, path);
    do {
        nanosleep(&pause, NULL);
        if (heartbeat_check(&seen, AT_FDCWD, path) == 0)
            return seen.inode != 0;
    } while (values_clock() < end);
    return 0;
}

void doctor_instance_begin(doctor_t *d)
{
    json_t *report;

    d->spawner = process_of(d, CONTRACT_SPAWNER);
    d->httpd = httpd_test_parent(d->dir, d->spawner);
    if (ask_status(d->dir, 1, &report) == EXIT_OK) {
        if (json_is_array(json_object_get(report, "groups")))
            d->report = report;
        else
            json_decref(report);
    }
}

/* ---- the programs ---- */

static int is_root(void)
{
    return geteuid() == 0;
}

static void look_at_httpd(doctor_t *d)
{
    if (d->httpd > 0)
        doctor_fine(d, "httpd", "its parent process is %d", (int)d->httpd);
    else if (d->report && !is_root())
        doctor_unknown(d, "httpd", "only root can see its process");
    else
        doctor_wrong(d, "httpd",
                     "start httpd; the error log says why the last one ended",
                     "there is no httpd with the runtime directory %s", d->dir);
}

/* @param name for people, and of the check */
static void look_at_beat(doctor_t *d, const char *name, const char *file,
                         const char *advice)
{
    char path[PATH_MAX];
    struct stat st;
    double age;

    if (stat(path_of(d, file, path), &st) != 0) {
        doctor_unknown(d, name,
                       "it has no heartbeat yet, or you may not see it");
        return;
    }
    age = difftime(time(NULL), st.st_mtime);
    /* It seems old, or is to come, if somebody has just set the clock. */
    if ((age < 0 || age > BEAT) && beats(path))
        age = 0;
    if (age < 0)
        doctor_wrong(d, name, advice, "it had no heartbeat for %d s", BEATS);
    else if (age > BEAT)
        doctor_wrong(d, name, advice, "its last heartbeat is %.0f s old", age);
    else
        doctor_fine(d, name, "its last heartbeat is %.0f s old", age);
}

static void look_at_spawner(doctor_t *d)
{
    static const char advice[] =
        "the watchdog starts another one; if this does not help, the error log "
        "says why it ends, and a restart of httpd starts all anew";

    if (!d->report && d->spawner == 0)
        doctor_wrong(d, "spawner", advice,
                     is_root() ? "it does not run" : "it does not respond");
    else if (!d->report)
        doctor_wrong(d, "spawner", advice,
                     "it runs as process %d, and does not respond",
                     (int)d->spawner);
    else
        look_at_beat(d, "spawner", CONTRACT_SPAWNER_HEARTBEAT, advice);
}

static void look_at_store(doctor_t *d)
{
    static const char advice[] =
        "the watchdog starts another one, which keeps the items; the error log "
        "says why it ended";
    char path[PATH_MAX];

    if (access(path_of(d, CONTRACT_STORE, path), F_OK) != 0)
        return; /* there is no AppStore */
    if (process_of(d, CONTRACT_STORE) == 0)
        doctor_wrong(d, "store", advice, "it does not run");
    else
        look_at_beat(d, "store", CONTRACT_STORE_HEARTBEAT, advice);
}

static void look_at_segment(doctor_t *d)
{
    static const char *const words[] = {"check"};
    char *response;
    const char *text;
    json_t *o;

    if (!d->report)
        return;
    if (ask_silently(d->dir, words, 1, &response) != EXIT_OK)
        return; /* the spawner was said to be dead */
    o = json_loads(response, 0, NULL);
    free(response);
    text = json_string_value(json_object_get(o, "text"));
    if (json_is_true(json_object_get(o, "ok")))
        doctor_fine(d, "memory", "all invariants of the pool hold");
    else if (json_object_get(o, "error"))
        doctor_unknown(d, "memory", "%s", values_text(o, "error"));
    else
        doctor_wrong(d, "memory",
                     "the spawner repairs it within seconds; if the log says "
                     "so again and again, restart httpd, and report it",
                     "%s does not hold: %s", values_text(o, "invariant"),
                     text ? text : "-");
    json_decref(o);
}

/* After an upgrade of httpd, an old instance ends when its requests have. */
static void look_at_instances(doctor_t *d)
{
    char path[PATH_MAX];
    int n, found = 0;

    for (n = 1; n < 100; n++) {
        snprintf(path, sizeof path, "%s/%d", d->dir, n);
        found += access(path, F_OK) == 0;
    }
    if (found > 0)
        doctor_fine(d, "instances",
                    "%d directories of other builds are in %s: an old instance "
                    "ends with its last requests",
                    found, d->dir);
}

void doctor_instance_programs(doctor_t *d)
{
    look_at_httpd(d);
    if (d->httpd == 0 && d->spawner == 0 && !d->report)
        return; /* none of them should run */
    look_at_beat(d, "watchdog", CONTRACT_WATCHDOG_HEARTBEAT,
                 "httpd starts another one at once; if it does not, restart "
                 "httpd");
    look_at_spawner(d);
    look_at_store(d);
    look_at_segment(d);
    look_at_instances(d);
}

/* ---- room ---- */

/* @param what is written there */
static void look_at_disk(doctor_t *d, const char *place, const char *what)
{
    struct statvfs fs;

    if (statvfs(place, &fs) != 0) {
        doctor_unknown(d, "disk", "%s (%s): %s", place, what, strerror(errno));
        return;
    }
    if ((double)fs.f_bavail * (double)fs.f_frsize < ROOM)
        doctor_wrong(d, "disk", "make room there", "%s (%s) has %.0f MB left",
                     place, what,
                     (double)fs.f_bavail * (double)fs.f_frsize / 1048576);
    else if (fs.f_files > 0 && fs.f_favail < INODES)
        doctor_wrong(d, "disk", "remove files there",
                     "%s (%s) has room for %llu more files", place, what,
                     (unsigned long long)fs.f_favail);
    else
        doctor_fine(d, "disk", "%s (%s) has %.0f MB left", place, what,
                    (double)fs.f_bavail * (double)fs.f_frsize / 1048576);
}

/* The error log of httpd; a link leads to it. */
static void look_at_log(doctor_t *d)
{
    char path[PATH_MAX], log[PATH_MAX], *slash;
    ssize_t n =
        readlink(path_of(d, CONTRACT_ERRORLOG, path), log, sizeof log - 1);

    if (n <= 0)
        return;
    log[n] = 0;
    slash = strrchr(log, '/');
    if (*log != '/' || strncmp(log, "/proc/", 6) == 0 ||
        strncmp(log, "/dev/", 5) == 0)
        return; /* a program, or a terminal */
    *(slash == log ? slash + 1 : slash) = 0;
    look_at_disk(d, log, "the error log");
}

/* @return how many descriptors a process has; -1: nobody may see it */
static long count_descriptors(pid_t pid)
{
    char path[64];
    DIR *dir;
    long n = -2; /* . and .. */

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static long limit_of(pid_t pid)
{
    char path[64], line[256];
    long limit = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/limits", (int)pid);
    file = fopen(path, "re");
    while (file && limit < 0 && fgets(line, sizeof line, file))
        sscanf(line, "Max open files %ld", &limit);
    if (file)
        fclose(file);
    return limit;
}

static void look_at_descriptors(doctor_t *d, pid_t pid, const char *name)
{
    long used = pid > 0 ? count_descriptors(pid) : -1, most;

    if (used < 0)
        return;
    most = limit_of(pid);
    if (most > 0 && (double)used > USED_PART * (double)most)
        doctor_wrong(d, "descriptors",
                     "raise the limit (LimitNOFILE of systemd, or ulimit -n) "
                     "and restart httpd",
                     "the %s has %ld open of %ld", name, used, most);
    else
        doctor_fine(d, "descriptors", "the %s has %ld open of %ld", name, used,
                    most);
}

static void look_at_all_descriptors(doctor_t *d)
{
    FILE *file = fopen("/proc/sys/fs/file-nr", "re");
    double used = 0, most = 0;

    if (file && fscanf(file, "%lf %*f %lf", &used, &most) == 2 &&
        used > USED_PART * most)
        doctor_wrong(d, "descriptors", "raise fs.file-max by sysctl",
                     "the host has %.0f open of %.0f", used, most);
    if (file)
        fclose(file);
}

void doctor_instance_room(doctor_t *d)
{
    look_at_disk(d, d->dir, "the runtime directory");
    look_at_log(d);
    look_at_descriptors(d, d->spawner, "spawner");
    look_at_descriptors(d, d->httpd, "parent process of httpd");
    look_at_all_descriptors(d);
}
