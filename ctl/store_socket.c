/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/app_word.h"
#include "base/no_descriptors.h"
#include "ctl/ask_server.h"
#include "ctl/values.h"

/* ---- which space ---- */

/* Not values_text(): it is compared with others, and goes back to the store. */
static const char *name_of(const json_t *spaces, size_t i)
{
    return values_word(json_array_get(spaces, i), "name");
}

static int give(const char *name, char **space)
{
    *space = strdup(name);
    return *space ? EXIT_OK : ask_complain(EXIT_NO, "%s", strerror(errno));
}

/* After a sentence that ends with a colon. @return EXIT_NO */
static int list(const json_t *spaces)
{
    size_t i;

    for (i = 0; i < json_array_size(spaces); i++)
        fprintf(stderr, "  %s\n",
                values_text(json_array_get(spaces, i), "name"));
    return EXIT_NO;
}

static int find_by_word(const json_t *spaces, const char *word, char **space)
{
    const char *found = NULL;
    size_t i, n = 0;

    for (i = 0; i < json_array_size(spaces); i++) {
        const char *name = name_of(spaces, i);

        if (strcmp(name, word) == 0)
            return give(name, space);
        if (app_word_is_end(word, name)) {
            found = name;
            n++;
        }
    }
    if (n == 1)
        return give(found, space);
    if (json_array_size(spaces) == 0)
        return ask_complain(
            EXIT_NO, "there is no space %s: the store has no space", word);
    ask_complain(EXIT_NO,
                 n > 1 ? "there is more than one space %s:"
                       : "there is no space %s; the spaces are:",
                 word);
    return list(spaces);
}

/* A store that begins shows one space after the other. */
static int is_ready(const json_t *store)
{
    return json_real_value(json_object_get(store, "recovery")) > 0;
}

int store_socket_space(const char *dir, const char *word, char **space)
{
    const json_t *store;
    json_t *report;
    int status;

    /* Of everything, or of what this user may see. */
    ask_status(dir, 1, &report);
    store = json_object_get(report, "store");
    status = is_ready(store)
                 ? find_by_word(json_object_get(store, "spaces"), word, space)
                 : give(word, space);
    json_decref(report);
    return status;
}

/* ---- its socket ---- */

/* @return a descriptor that stands for the socket; -1: errno */
static int find(const char *stores, const char *name)
{
    int dir = open(stores, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd,
        error;
    struct stat owner, st;

    if (dir < 0)
        return -1;
    fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    error = fd < 0 ? errno : 0;
    if (!error && (fstat(dir, &owner) != 0 || fstat(fd, &st) != 0 ||
                   !S_ISSOCK(st.st_mode) || st.st_uid != owner.st_uid))
        error = EPERM;
    close(dir);
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Connect to the very socket that was looked at. A store that hangs accepts
 * nothing, so connect() has a limit, too.
 * @return a descriptor; -1: errno */
static int join(int fd, int seconds)
{
    struct timeval limit = {seconds, 0};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

    if (s < 0)
        return -1;
    no_descriptors_refuse(s);
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d", fd);
    if (setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        connect(s, (struct sockaddr *)&at, sizeof at) == 0)
        return s;
    error = errno;
    close(s);
    errno = error;
    return -1;
}

int store_socket_connect(const char *dir, const char *name, const char *what,
                         int limit, int *fd)
{
    char stores[PATH_MAX];
    int at;

    if (!ask_path(dir, CONTRACT_STORES, stores, sizeof stores))
        return ask_complain(EXIT_NO, "%s: the path is too long", dir);
    at = find(stores, name);
    if (at < 0)
        return ask_complain(EXIT_NO, "there is no %s: %s", what,
                            strerror(errno));
    *fd = join(at, limit);
    if (*fd < 0)
        ask_complain(EXIT_NO, "cannot connect to the store: %s",
                     strerror(errno));
    close(at);
    return *fd < 0 ? EXIT_NOT_RUNNING : EXIT_OK;
}
