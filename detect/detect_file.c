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

int detect_file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
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
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
