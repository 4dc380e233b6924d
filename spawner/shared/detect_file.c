/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/shared/detect_file.h"

#include <fcntl.h>
#include <jansson.h>
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

static int keep(detect_found_t *found, const char *before, const char *command)
{
    return snprintf(found->command, DETECT_MAX, "%s%s", before, command) <
           DETECT_MAX;
}

int detect_file_procfile(detect_found_t *found)
{
    char *text = detect_file_content(found->file), *line, *rest = NULL;
    int good = 0;

    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line && !good;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (strncmp(line, "web:", 4) != 0)
            continue;
        line += 4;
        line += strspn(line, " \t");
        good = *line != 0 && keep(found, "", line);
    }
    free(text);
    snprintf(found->why, DETECT_MAX, "%s has a web: line", found->file);
    return good;
}

int detect_file_django(detect_found_t *found)
{
    size_t n = strspn(found->file, DETECT_PLAIN);

    snprintf(found->why, DETECT_MAX, "manage.py and %s are there", found->file);
    snprintf(found->command, DETECT_MAX, "%.*s.wsgi", (int)n, found->file);
    return detect_file_exists("manage.py") && found->file[n] == '/';
}

int detect_file_package(detect_found_t *found)
{
    char *text = detect_file_content(found->file);
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;
    const char *start = json_string_value(
        json_object_get(json_object_get(o, "scripts"), "start"));
    int good = start && *start &&
               keep(found, "env PATH=\"$PWD/node_modules/.bin:$PATH\" ", start);

    json_decref(o);
    free(text);
    snprintf(found->why, DETECT_MAX, "%s has a start script", found->file);
    return good;
}
