/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/applog.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawner/contract.h"
#include "spawner/log.h"
#include "spawner/millis.h"
#include "spawner/openas.h"
#include "spawner/output.h"
#include "spawner/privilege.h"
#include "spawner/settle.h"

#define SAY_AGAIN 60000 /* ms: that the file cannot be opened */

int applog_open(const char *path, unsigned uid, unsigned gid)
{
    mode_t mask = umask(027);
    int fd = openas(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0640, uid,
                    gid, NULL);
    int error = errno;

    umask(mask);
    errno = error;
    return fd;
}

/* ---- the program ---- */

/* The groups that the app has. Where they cannot be found, only its first one:
 * the groups that httpd was started with are root's. */
static void take_groups(uid_t uid, gid_t gid)
{
    privilege_t who = {.uid = uid, .gid = gid};
    const struct passwd *pw = getpwuid(uid);
    char error[PRIVILEGE_ERROR_MAX];

    if (pw) {
        snprintf(who.name, sizeof who.name, "%s", pw->pw_name);
        who.known = 1;
    }
    if (privilege_groups(&who, error) != 0)
        setgroups(1, &gid);
}

static void write_all(int fd, const char *text, size_t length)
{
    ssize_t n;

    while (length > 0 && (n = write(fd, text, length)) > 0) {
        text += n;
        length -= (size_t)n;
    }
}

/* To the error log, with what its lines have after the time. */
static void write_elsewhere(const char *text, size_t length)
{
    static bucket_t bucket;
    int fd = log_open(), to = fd < 0 ? CONTRACT_LOG_FD : fd;
    const char *end;

    for (; length > 0; length -= (size_t)(end - text), text = end) {
        char line[OUTPUT_LINE_MAX];
        const char *rest = memmem(text, length, "] ", 2);
        size_t n;

        end = memchr(text, '\n', length);
        if (!end++ || !rest || rest > end)
            break;
        rest += 2;
        if (!output_may(&bucket, 0, millis_now() * 1000, (size_t)(end - text)))
            continue;
        n = (size_t)(rest - text);
        memcpy(line, text, n);
        n += log_origin(line + n, sizeof line - n, LOG_INFO);
        if ((size_t)(end - rest) > sizeof line - n)
            continue;
        memcpy(line + n, rest, (size_t)(end - rest));
        write_all(to, line, n + (size_t)(end - rest));
    }
    if (fd >= 0)
        close(fd);
}

static int open_or_say(char **argv, unsigned uid, unsigned gid)
{
    static int64_t said = -SAY_AGAIN;
    int fd = applog_open(argv[APPLOG_FILE], uid, gid);

    if (fd < 0 && millis_now() - said >= SAY_AGAIN) {
        log_line(LOG_ERROR, "AppLog %s cannot be opened: %s", argv[APPLOG_FILE],
                 strerror(errno));
        said = millis_now();
    }
    return fd;
}

int applog_main(char **argv)
{
    static char text[APPLOG_MAX];
    unsigned uid = (unsigned)strtoul(argv[APPLOG_UID], NULL, 10);
    unsigned gid = (unsigned)strtoul(argv[APPLOG_GID], NULL, 10);
    ssize_t n;

    prctl(PR_SET_NAME, APPLOG_PROGRAM, 0, 0, 0);
    close(CONTRACT_PROGRAM_FD);
    signal(SIGPIPE, SIG_IGN); /* an AppLog that is a FIFO */
    settle_memory("0");
    log_directory(
        open(argv[APPLOG_RUNTIME], O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    take_groups(uid, gid);
    while ((n = recv(STDIN_FILENO, text, sizeof text, 0)) > 0) {
        int fd = open_or_say(argv, uid, gid);

        if (fd < 0) {
            write_elsewhere(text, (size_t)n);
            continue;
        }
        fcntl(fd, F_SETFL, O_APPEND); /* a FIFO that is full is waited for */
        write_all(fd, text, (size_t)n);
        close(fd);
    }
    return 0;
}
