/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/stderr_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAIL 8192 /* a sanitizer prints more after its summary */

int stderr_file_open(int dirfd, const char *name)
{
    return openat(dirfd, name,
                  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW |
                      O_CLOEXEC | O_NOCTTY,
                  0600);
}

/* Read the end of the file as a string. */
static void read_tail(int dirfd, const char *name, char text[TAIL])
{
    int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t n;

    n = pread(fd, text, TAIL - 1, size > TAIL - 1 ? size - (TAIL - 1) : 0);
    text[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

const char *stderr_file_read(int dirfd, const char *name,
                             char buf[STDERR_FILE_MAX])
{
    static const char summary[] = "SUMMARY: ";
    char text[TAIL], *line, *best = NULL, *rest = text;

    read_tail(dirfd, name, text);
    while ((line = strsep(&rest, "\r\n")) != NULL) {
        if (strspn(line, " \t") == strlen(line))
            continue;
        best = line;
        if (strncmp(line, summary, sizeof summary - 1) == 0)
            break;
    }
    if (!best)
        return "";
    snprintf(buf, STDERR_FILE_MAX, ": %s", best);
    return buf;
}
