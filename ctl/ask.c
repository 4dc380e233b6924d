/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/ask.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "spawner/contract.h"
#include "spawner/rights.h"

#define WHERE       ASK_WHERE
#define ENVIRONMENT "APPPOOL_RUNTIME_DIR"
#define LIMIT       10 /* s for an answer */
#define CHUNK       65536

static int quiet;

int ask_complain(int status, const char *format, ...)
{
    va_list args;

    if (quiet)
        return status;
    fputs("apppoolctl: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return status;
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
                            "no runtime directory is found: $" ENVIRONMENT
                            " is not set, and there is no " WHERE
                            "; say which with --runtime-dir");
    if (found.gl_pathc == 1) {
        *dir = found.gl_pathv[0];
        return 0;
    }
    ask_complain(EXIT_USAGE,
                 "there are several; say which with --runtime-dir:");
    for (i = 0; i < found.gl_pathc; i++)
        fprintf(stderr, "  %s\n", found.gl_pathv[i]);
    globfree(&found);
    return EXIT_USAGE;
}

/* ---- question and answer ---- */

/* Where several are, while an upgrade drains: the newest. @return 0: too long */
static int find_socket(const char *dir, char *path, size_t size)
{
    static const char *const names[] = {CONTRACT_CURRENT "/" CONTRACT_CONTROL,
                                        CONTRACT_CONTROL};
    int i, n = 0;

    for (i = 0; i < 2; i++) {
        n = snprintf(path, size, "%s/%s", dir, names[i]);
        if (n >= 0 && (size_t)n < size && access(path, F_OK) == 0)
            break;
    }
    return n >= 0 && (size_t)n < size;
}

static int connect_to(const char *dir, int *fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval limit = {LIMIT, 0};

    if (!find_socket(dir, at.sun_path, sizeof at.sun_path))
        return ask_complain(EXIT_USAGE, "%s is too long a path", dir);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return ask_complain(EXIT_NO, "socket: %s", strerror(errno));
    rights_refuse(*fd);
    setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(*fd, (struct sockaddr *)&at, sizeof at) == 0)
        return 0;
    if (errno == EACCES || errno == EPERM)
        return ask_complain(EXIT_NO, "%s: only root and httpd's user may ask",
                            at.sun_path);
    return ask_complain(EXIT_NOT_RUNNING, "no pool is running in %s: %s", dir,
                        strerror(errno));
}

/* Everything up to EOF, to be freed. NULL: it did not come. */
static char *read_answer(int fd)
{
    char *text = NULL, *more;
    size_t length = 0;
    ssize_t n;

    do {
        more = length < CONTRACT_ANSWER_MAX ? realloc(text, length + CHUNK + 1)
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

/* Words with a tab between them. */
static int make_line(const char *const *words, int n,
                     char line[CONTRACT_QUESTION_MAX])
{
    size_t i, used = 0;
    int w;

    for (w = 0; w < n; w++) {
        size_t length = strlen(words[w]);

        for (i = 0; i < length; i++)
            if ((unsigned char)words[w][i] < 0x20 || words[w][i] == 0x7f)
                return ask_complain(EXIT_USAGE,
                                    "there is a control character in a word");
        if (used + length + 2 > CONTRACT_QUESTION_MAX)
            return ask_complain(EXIT_USAGE, "that is too long");
        memcpy(line + used, words[w], length);
        used += length;
        line[used++] = w + 1 < n ? '\t' : '\n';
    }
    line[used] = 0;
    return 0;
}

int ask_server(const char *dir, const char *const *words, int n, char **answer)
{
    char line[CONTRACT_QUESTION_MAX];
    int fd = -1, rv = make_line(words, n, line);
    size_t length;

    if (rv == 0)
        rv = connect_to(dir, &fd);
    if (rv != 0)
        return rv;
    length = strlen(line);
    *answer = NULL;
    if (send(fd, line, length, MSG_NOSIGNAL) == (ssize_t)length)
        *answer = read_answer(fd);
    close(fd);
    return *answer ? 0
                   : ask_complain(EXIT_NOT_RUNNING,
                                  "the spawner of %s does not answer", dir);
}

int ask_status(const char *dir, int silently, json_t **report)
{
    static const char *const question[] = {"status"};
    char *answer;
    int status;

    *report = NULL;
    quiet = silently;
    status = ask_server(dir, question, 1, &answer);
    quiet = 0;
    if (status != 0)
        return status;
    *report = json_loads(answer, 0, NULL);
    free(answer);
    return 0;
}
