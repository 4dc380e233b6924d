/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_venv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_text.h"

#define LINKS 16 /* that are followed */
#define REMEDY                                                                 \
    "make the environment again with a Python that the user of the "           \
    "application "                                                             \
    "may execute (python3 -m venv --clear %s), and install its packages again"

static const char *const names[] = {"venv", ".venv", "env"};
#define NAMES (sizeof names / sizeof *names)

static int can_run(const char *name)
{
    char python[32];

    snprintf(python, sizeof python, "%s/bin/python", name);
    return access(python, X_OK) == 0;
}

const char *detect_venv_find(void)
{
    size_t i;

    for (i = 0; i < NAMES; i++)
        if (can_run(names[i]))
            return names[i];
    return NULL;
}

/* ---- a Python that is gone ---- */

/* Where a chain of links ends, whether that exists or not. */
static void follow(const char *from, char end[PATH_MAX])
{
    char to[PATH_MAX], next[2 * PATH_MAX];
    int i;

    snprintf(end, PATH_MAX, "%s", from);
    for (i = 0; i < LINKS; i++) {
        ssize_t n = readlink(end, to, sizeof to - 1);
        const char *last = strrchr(end, '/');

        if (n <= 0)
            return;
        to[n] = 0;
        if (*to == '/' || !last)
            snprintf(next, sizeof next, "%s", to);
        else
            snprintf(next, sizeof next, "%.*s%s", (int)(last + 1 - end), end,
                     to);
        if (strlen(next) >= PATH_MAX)
            return;
        memcpy(end, next, strlen(next) + 1);
    }
}

static void say_dead(const char *name, char *why, size_t size)
{
    char python[32], end[PATH_MAX];
    int error;

    snprintf(python, sizeof python, "%s/bin/python", name);
    error = access(python, X_OK) == 0 ? 0 : errno;
    follow(python, end);
    snprintf(why, size, "%s cannot be executed (it is %.300s: %s): " REMEDY,
             python, end, strerror(error), name);
}

/* ---- a Python of another version ---- */

typedef struct {
    unsigned major, minor;
} version_t;

/* The version of the Python that the environment was made with: "version =
 * 3.11.2" of venv, "version_info = 3.11.2.final.0" of others. */
static int read_version(const char *name, version_t *is)
{
    char path[32], *text, *line, *rest = NULL;
    int found = 0;

    snprintf(path, sizeof path, "%s/pyvenv.cfg", name);
    text = detect_text_read_linked(path);
    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line && !found;
         line = strtok_r(NULL, "\r\n", &rest))
        found =
            sscanf(line, " version = %u.%u", &is->major, &is->minor) == 2 ||
            sscanf(line, " version_info = %u.%u", &is->major, &is->minor) == 2;
    free(text);
    return found;
}

/* The version is in the name of the program that the links lead to. */
static int program_version(const char *program, version_t *is)
{
    const char *last = strrchr(program, '/');

    return sscanf(last ? last + 1 : program, "python%u.%u", &is->major,
                  &is->minor) == 2;
}

/* A Python finds only the packages of its own version. Another patch release
 * finds them. */
static int has_packages(const char *name, const version_t *is)
{
    char path[80];

    snprintf(path, sizeof path, "%s/lib/python%u.%u/site-packages", name,
             is->major, is->minor);
    return access(path, F_OK) == 0;
}

static int is_other(const char *name, char *why, size_t size)
{
    char python[32], *program;
    version_t made, is;
    int other;

    snprintf(python, sizeof python, "%s/bin/python", name);
    program = realpath(python, NULL);
    other = program && read_version(name, &made) &&
            program_version(program, &is) &&
            (made.major != is.major || made.minor != is.minor) &&
            !has_packages(name, &is);
    if (other)
        snprintf(why, size,
                 "%s has packages of Python %u.%u, and %s is %.300s: " REMEDY,
                 name, made.major, made.minor, python, program, name);
    free(program);
    return other;
}

/* ---- both ---- */

int detect_venv_is_broken(char *why, size_t size)
{
    const char *name = detect_venv_find();
    char mark[32];
    size_t i;

    if (name)
        return is_other(name, why, size);
    for (i = 0; i < NAMES; i++) {
        snprintf(mark, sizeof mark, "%s/pyvenv.cfg", names[i]);
        if (detect_text_exists(AT_FDCWD, mark)) {
            say_dead(names[i], why, size);
            return 1;
        }
    }
    return 0;
}
