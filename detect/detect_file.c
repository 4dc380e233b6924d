/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 65536

/* A regular file, by any way to it. A device must not even be opened: that alone
 * may do something. */
static int open_regular(const char *path)
{
    int fd = -1, found = open(path, O_PATH | O_CLOEXEC);
    char again[32];
    struct stat st;

    snprintf(again, sizeof again, "/proc/self/fd/%d", found);
    if (found >= 0 && fstat(found, &st) == 0 && S_ISREG(st.st_mode))
        fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (found >= 0)
        close(found);
    return fd;
}

int detect_file_is_of_npm(const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "node_modules/.bin/%s", name) <
               (int)sizeof path &&
           access(path, X_OK) == 0;
}

char *detect_file_content(const char *path)
{
    int fd = open_regular(path);
    char *text = fd < 0 ? NULL : malloc(FILE_MAX);
    ssize_t n = text ? read(fd, text, FILE_MAX - 1) : -1;

    if (fd >= 0)
        close(fd);
    if (text)
        text[n > 0 ? n : 0] = 0;
    return text;
}

static int keep(detect_found_t *found, const char *command)
{
    return snprintf(found->command, DETECT_MAX, "%s", command) < DETECT_MAX;
}

int detect_file_django(detect_found_t *found)
{
    size_t n = strspn(found->file, DETECT_PLAIN);

    snprintf(found->why, DETECT_MAX, "manage.py and %s are there", found->file);
    snprintf(found->command, DETECT_MAX, "%.*s.wsgi", (int)n, found->file);
    return found->file[n] == '/';
}

int detect_file_plain(detect_found_t *found)
{
    return found->file[strspn(found->file, DETECT_PLAIN "/")] == 0 &&
           keep(found, found->file);
}

int detect_file_daemon(detect_found_t *found)
{
    return detect_file_plain(found) &&
           snprintf(found->command, DETECT_MAX, "%s daemon", found->file) > 0;
}
