/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* URLs about the process: what it got at its start, and processes that it
 * starts. */

#include <dirent.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample.h"

/* At the start. */
static char *descriptors_then;
static char ignored_then[32];

/* The open descriptors and their files, as an object of JSON. */
static char *descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;
    const char *comma = "";
    char *json, file[512];
    ssize_t length;
    size_t n;
    FILE *to = open_memstream(&json, &n);

    putc('{', to);
    while (directory && (entry = readdir(directory))) {
        if (*entry->d_name == '.' || atoi(entry->d_name) == dirfd(directory))
            continue;
        length = readlinkat(dirfd(directory), entry->d_name, file, sizeof file);
        fprintf(to, "%s\"%s\": ", comma, entry->d_name);
        json_string(to, file, length > 0 ? (size_t)length : 0);
        comma = ", ";
    }
    putc('}', to);
    fclose(to);
    if (directory)
        closedir(directory);
    return json;
}

/* A line of /proc/self/status, without its name. */
static void status_line(const char *name, char *value, size_t size)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[512];
    size_t n = strlen(name);

    *value = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, n) == 0)
            snprintf(value, size, "%.*s", (int)strcspn(line + n, "\n"),
                     line + n);
    if (file)
        fclose(file);
}

void process_note_start(void)
{
    descriptors_then = descriptors();
    status_line("SigIgn:\t", ignored_then, sizeof ignored_then);
}

static void put_ids(FILE *to)
{
    uid_t real, effective, saved;
    gid_t group, effective_group, saved_group, groups[256];
    int n = getgroups(256, groups), i;
    mode_t mask = umask(0);

    umask(mask);
    getresuid(&real, &effective, &saved);
    getresgid(&group, &effective_group, &saved_group);
    fprintf(to,
            "\"pid\": %d, \"sid\": %d, \"pgid\": %d, \"umask\": %u, "
            "\"uid\": [%u, %u, %u], \"gid\": [%u, %u, %u], \"groups\": [",
            (int)getpid(), (int)getsid(0), (int)getpgid(0), mask, real,
            effective, saved, group, effective_group, saved_group);
    for (i = 0; i < n; i++)
        fprintf(to, i > 0 ? ", %u" : "%u", groups[i]);
    fputs("], ", to);
}

static void put_string(FILE *to, const char *name, const char *value)
{
    json_string(to, name, strlen(name));
    fputs(": ", to);
    json_string(to, value, strlen(value));
}

static void put_environment(FILE *to)
{
    char **entry;

    fputs("\"environment\": {", to);
    for (entry = environ; *entry; entry++) {
        size_t n = strcspn(*entry, "=");

        fputs(entry > environ ? ", " : "", to);
        json_string(to, *entry, n);
        fputs(": ", to);
        json_string(to, *entry + n + 1, strlen(*entry + n + 1));
    }
    putc('}', to);
}

/* What the process got at its start. */
int url_process(request_t *r)
{
    char *json, *now = descriptors(), *cwd = getcwd(NULL, 0), value[32];
    char limits[4096] = "";
    size_t n;
    FILE *to = open_memstream(&json, &n), *file;

    file = fopen("/proc/self/limits", "re");
    if (file) {
        limits[fread(limits, 1, sizeof limits - 1, file)] = 0;
        fclose(file);
    }
    putc('{', to);
    put_ids(to);
    fprintf(to, "\"fds\": %s, \"fds_now\": %s, ", descriptors_then, now);
    put_string(to, "cwd", cwd ? cwd : "");
    fputs(", ", to);
    put_string(to, "limits", limits);
    status_line("NoNewPrivs:\t", value, sizeof value);
    fprintf(to, ", \"no_new_privs\": \"%s\"", value);
    status_line("SigBlk:\t", value, sizeof value);
    fprintf(to, ", \"sigmask\": \"%s\", \"sigignore\": \"%s\", ", value,
            ignored_then);
    put_environment(to);
    putc('}', to);
    fclose(to);
    respond_bytes(r, 200, "", "application/json", json, n);
    free(json);
    free(now);
    free(cwd);
    return KEEP;
}

static _Noreturn void become_daemon(const char *kind, int report)
{
    static char *const none[] = {NULL};
    char *const words[] = {"sleep", "600", NULL};

    if (strstr(kind, "session"))
        setsid();
    if (strstr(kind, "double") && fork() != 0)
        _exit(0);
    if (strstr(kind, "stubborn"))
        signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    dprintf(report, "%d", (int)getpid());
    close_range(0, 64, 0);
    execve("/bin/sleep", words, strstr(kind, "bare") ? none : environ);
    _exit(1);
}

/* /daemon?kind=KIND: a background process; KIND is one or more of group
 * (nothing special), session (setsid), double (the child of one that has
 * ended), stubborn (ignores SIGTERM), bare (an empty environment). */
int url_daemon(request_t *r)
{
    const char *kind = request_value(r, "kind", "session.double.stubborn");
    char pid[20] = "";
    int report[2];

    if (pipe(report) < 0)
        return CLOSE;
    if (fork() == 0)
        become_daemon(kind, report[1]);
    if (read(report[0], pid, sizeof pid - 1) > 0)
        respond(r, pid);
    close(report[0]);
    close(report[1]);
    return KEEP;
}
