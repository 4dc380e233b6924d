/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_path.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_nvm.h"
#include "detect/detect_venv.h"

/* A virtual environment of Python: what `activate` there would do. */
static void virtual_environment(detect_path_t *found)
{
    const char *name = detect_venv_find();

    if (name) {
        detect_path_before(found, "%s/%s/bin", found->root, name);
        detect_path_set(found, "VIRTUAL_ENV=%s/%s", found->root, name);
    }
}

/* rbenv: its programs read the file, and run the Ruby that it names. */
static void rbenv(detect_path_t *found)
{
    const char *root = found->rbenv ? found->rbenv : found->home;
    const char *shims = found->rbenv ? "shims" : ".rbenv/shims";
    char ruby[PATH_MAX];

    if (access(".ruby-version", R_OK) == 0 && *root == '/' &&
        snprintf(ruby, sizeof ruby, "%s/%s/ruby", root, shims) <
            (int)sizeof ruby &&
        access(ruby, X_OK) == 0)
        detect_path_before(found, "%s/%s", root, shims);
}

static void node_of_nvm(detect_path_t *found)
{
    char place[PATH_MAX];

    if (detect_nvm(found->home, place))
        detect_path_before(found, "%s", place);
}

/* THE LIST. The directories of the first rule are searched first. */
static void (*const rules[])(detect_path_t *found) = {virtual_environment,
                                                      rbenv, node_of_nvm};

void detect_path_before(detect_path_t *found, const char *format, ...)
{
    char dir[PATH_MAX];
    size_t n = strlen(found->path) - strlen(DETECT_PATH_STANDARD);
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(dir, sizeof dir, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof dir || strchr(dir, ':'))
        return;
    if (n + (size_t)length + sizeof ":" DETECT_PATH_STANDARD <= PATH_MAX)
        stpcpy(stpcpy(found->path + n, dir), ":" DETECT_PATH_STANDARD);
}

void detect_path_set(detect_path_t *found, const char *format, ...)
{
    va_list args;
    size_t n = 0;

    while (found->variables[n])
        n++;
    if (n == DETECT_PATH_VARIABLES)
        return;
    va_start(args, format);
    if (vasprintf(&found->variables[n], format, args) < 0)
        found->variables[n] = NULL;
    va_end(args);
}

void detect_path(const char *home, const char *rbenv_root, detect_path_t *found)
{
    size_t i;

    memset(found, 0, sizeof *found);
    found->home = home;
    found->rbenv = rbenv_root;
    memcpy(found->path, DETECT_PATH_STANDARD, sizeof DETECT_PATH_STANDARD);
    if (!getcwd(found->root, sizeof found->root))
        return;
    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        rules[i](found);
}

void detect_path_free(detect_path_t *found)
{
    size_t i;

    for (i = 0; i < DETECT_PATH_VARIABLES; i++) {
        free(found->variables[i]);
        found->variables[i] = NULL;
    }
}
