/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int detect_file_is_of_npm(const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "node_modules/.bin/%s", name) <
               (int)sizeof path &&
           access(path, X_OK) == 0;
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
