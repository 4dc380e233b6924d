/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/ask_server.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ctl/values.h"
#include "base/contract.h"
#include "base/no_descriptors.h"

#define WHERE       ASK_WHERE
#define ENVIRONMENT "APPPOOL_RUNTIME_DIR"
#define LIMIT       10 /* s, for a response */
#define CHUNK       65536
#define TRIES       50 /* to connect, while the spawner starts */
#define PAUSE_MS    20 /* between two tries */

static int quiet;

int ask_complain(int status, const char *format, ...)
{
    char *text;
    va_list args;
    int n;

    if (quiet)
        return status;
    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    fputs("apppoolctl: ", stderr);
    values_put(stderr, n < 0 ? format : text);
    fputc('\n', stderr);
    if (n >= 0)
        free(text);
    return status;
}

int ask_flush(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return ask_complain(EXIT_NO, "the output cannot be written: %s",
                        strerror(errno));
}

/* ---- which httpd ---- */

int ask_directory(const char **dir)
{
    glob_t found;
    size_t i;
    int rv;

    if (!*dir)
        *dir = getenv(ENVIRONMENT);
    if (*dir)
        return 0;
    rv = glob(WHERE, GLOB_ONLYDIR, NULL, &found);
    if (rv != 0 || found.gl_pathc == 0)
        return ask_complain(EXIT_NOT_RUNNING,
                            "no httpd with mod_apppool runs: there is no " WHERE
                            ", and $" ENVIRONMENT
                            " is not set; if AppPoolRuntimeDir is set, name it "
                            "with --runtime-dir");
    if (found.gl_pathc == 1) {
        *dir = found.gl_pathv[0];
        return 0;
    }
    ask_complain(
        EXIT_USAGE,
        "there are several runtime directories; name one with --runtime-dir:");
    for (i = 0; i < found.gl_pathc && !quiet; i++)
        fprintf(stderr, "  %s\n", found.gl_pathv[i]);
    globfree(&found);
    return EXIT_USAGE;
}

int ask_directory_silently(const char **dir)
{
    int status;

    quiet = 1;
    status = ask_directory(dir);
    quiet = 0;
    return status;
}

/* ---- command and response ---- */

int ask_path(const char *dir, const char *name, char *path, size_t size)
{
    static const char *const places[] = {"/" CONTRACT_CURRENT, ""};
    int i, n = 0;

    for (i = 0; i < 2; i++) {
        n = snprintf(path, size, "%s%s/%s", dir, places[i], name);
        if (n >= 0 && (size_t)n < size && access(path, F_OK) == 0)
            break;
    }
    return n >= 0 && (size_t)n < size;
}

/* The socket for root and httpd refuses this user. Try the user's own socket.
 * @return 0, or errno; EACCES: there is none */
static int try_own(const char *dir, int fd, struct sockaddr_un *at)
{
    char name[32];

    snprintf(name, sizeof name, CONTRACT_USERS "/%u", (unsigned)geteuid());
    if (!ask_path(dir, name, at->sun_path, sizeof at->sun_path))
        return EACCES;
    if (connect(fd, (struct sockaddr *)at, sizeof *at) == 0)
        return 0;
    return errno == ENOENT ? EACCES : errno;
}

/* Is the spawner about to listen? Either httpd has just started, or a new
 * spawner starts. */
static int is_starting(const char *dir, int error)
{
    char path[PATH_MAX];

    return (error == ENOENT || error == ECONNREFUSED) &&
           ask_path(dir, CONTRACT_TABLE, path, sizeof path) &&
           access(path, F_OK) == 0;
}

/* @return 0, or errno */
static int try_connect(const char *dir, int fd, struct sockaddr_un *at)
{
    static const struct timespec pause = {0, PAUSE_MS * 1000000};
    int tries, error;

    for (tries = 0;; tries++) {
        ask_path(dir, CONTRACT_CONTROL, at->sun_path, sizeof at->sun_path);
        error = connect(fd, (struct sockaddr *)at, sizeof *at) == 0 ? 0 : errno;
        if (error == EACCES)
            error = try_own(dir, fd, at);
        if (error == 0 || tries == TRIES || !is_starting(dir, error))
            return error;
        nanosleep(&pause, NULL);
    }
}

static int connect_to(const char *dir, int *fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval limit = {LIMIT, 0};
    int error;

    if (!ask_path(dir, CONTRACT_CONTROL, at.sun_path, sizeof at.sun_path))
        return ask_complain(EXIT_USAGE, "the path %s is too long", dir);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return ask_complain(EXIT_NO, "socket: %s", strerror(errno));
    no_descriptors_refuse(*fd);
    setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    error = try_connect(dir, *fd, &at);
    if (error == 0)
        return 0;
    close(*fd);
    if (error == EACCES || error == EPERM)
        return ask_complain(EXIT_NO,
                            "%s: only root, the user of httpd, and users that "
                            "run its applications may use apppoolctl",
                            dir);
    return ask_complain(EXIT_NOT_RUNNING,
                        "no httpd with mod_apppool runs in %s: %s", dir,
                        strerror(error));
}

/* Read up to EOF. @return the text, which the caller frees; NULL: EOF did not
 * come */
static char *read_response(int fd)
{
    char *text = NULL, *more;
    size_t length = 0;
    ssize_t n;

    do {
        more = length < CONTRACT_RESPONSE_MAX
                   ? realloc(text, length + CHUNK + 1)
                   : NULL;
        if (!more)
            break;
        text = more;
        n = recv(fd, text + length, CHUNK, 0);
        if (n < 0)
            break;
        length += (size_t)n;
        text[length] = 0;
        if (n == 0 && length > 0)
            return text;
    } while (n > 0);
    free(text);
    return NULL;
}

/* Write the words as one line, with tabs between them. */
static int make_line(const char *const *words, int n,
                     char line[CONTRACT_COMMAND_MAX])
{
    size_t i, used = 0;
    int w;

    for (w = 0; w < n; w++) {
        size_t length = strlen(words[w]);

        for (i = 0; i < length; i++)
            if ((unsigned char)words[w][i] < 0x20 || words[w][i] == 0x7f)
                return ask_complain(EXIT_USAGE,
                                    "an argument contains a control character");
        if (used + length + 2 > CONTRACT_COMMAND_MAX)
            return ask_complain(EXIT_USAGE, "the arguments are too long");
        memcpy(line + used, words[w], length);
        used += length;
        line[used++] = w + 1 < n ? '\t' : '\n';
    }
    line[used] = 0;
    return 0;
}

int ask_server(const char *dir, const char *const *words, int n,
               char **response)
{
    char line[CONTRACT_COMMAND_MAX];
    int fd = -1, rv = make_line(words, n, line);
    size_t length;

    if (rv == 0)
        rv = connect_to(dir, &fd);
    if (rv != 0)
        return rv;
    length = strlen(line);
    *response = NULL;
    if (send(fd, line, length, MSG_NOSIGNAL) == (ssize_t)length)
        *response = read_response(fd);
    close(fd);
    return *response ? 0
                     : ask_complain(EXIT_NOT_RUNNING,
                                    "the spawner of %s does not respond", dir);
}

int ask_silently(const char *dir, const char *const *words, int n,
                 char **response)
{
    int status;

    quiet = 1;
    status = ask_server(dir, words, n, response);
    quiet = 0;
    return status;
}

int ask_status(const char *dir, int silently, json_t **report)
{
    static const char *const words[] = {"status"};
    char *response;
    int status;

    *report = NULL;
    if (silently)
        status = ask_silently(dir, words, 1, &response);
    else
        status = ask_server(dir, words, 1, &response);
    if (status != 0)
        return status;
    *report = json_loads(response, 0, NULL);
    free(response);
    return 0;
}

int ask_complain_report(const json_t *response)
{
    const char *error = json_string_value(json_object_get(response, "error"));

    if (json_object_get(response, "groups"))
        error = "only root and the user of httpd may see the whole pool; "
                "apppoolctl status shows your applications";
    return ask_complain(EXIT_NO, "%s",
                        error ? error : "the response is not a report");
}
