/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_file.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/detect_text.h"

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

/* ---- package.json ---- */

#define OF_NPM "env PATH=\"$PWD/node_modules/.bin:$PATH\" "

/* env does the same, and is replaced by the program instead of waiting for it
 * as cross-env does. */
static const char *without_cross_env(const char *command)
{
    static const char name[] = "cross-env ";
    size_t n = sizeof name - 1;

    command += strspn(command, " ");
    return strncmp(command, name, n) == 0 ? command + n : command;
}

/* Has the socket to reach the last command of a list? A shell runs the list and
 * is replaced by that command. With these characters, it is not known where the
 * last command begins. */
static int keep_script(detect_found_t *found, const char *script)
{
    const char *at = script, *last = NULL;
    char command[DETECT_MAX];

    while ((at = strstr(at, "&&")) != NULL)
        last = at += 2;
    if (!last || strpbrk(script, "'\"\\`();|\n"))
        return keep(found, OF_NPM, without_cross_env(script));
    return snprintf(command, sizeof command, "sh -c '%.*s exec env %s'",
                    (int)(last - script), script,
                    without_cross_env(last)) < DETECT_MAX &&
           keep(found, OF_NPM, command);
}

/* Keep the start script of package.json.
 * @param only 1: not if there are scripts that npm runs before or after it
 * @return 0: there is none */
static int keep_start(detect_found_t *found, int only)
{
    char *text = detect_text_read(AT_FDCWD, "package.json");
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *scripts = json_object_get(o, "scripts");
    const char *start = json_string_value(json_object_get(scripts, "start"));
    int has_more = json_object_get(scripts, "prestart") ||
                   json_object_get(scripts, "poststart");

    found->runs_node =
        start && *start && !(only && has_more) && keep_script(found, start);
    json_decref(o);
    free(text);
    return found->runs_node; /* whatever its first word is called */
}

/* npm and the like would run the script as a child process. */
static int is_start(const char *command)
{
    static const char *const commands[] = {"npm start",  "npm run start",
                                           "yarn start", "yarn run start",
                                           "pnpm start", "pnpm run start"};
    size_t i;

    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(command, commands[i]) == 0)
            return 1;
    return 0;
}

/* ---- what others read ---- */

int detect_file_procfile(detect_found_t *found)
{
    char *text = detect_text_read(AT_FDCWD, found->file), *line, *rest = NULL;
    int good = 0;

    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line && !good;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (strncmp(line, "web:", 4) != 0)
            continue;
        line += 4;
        line += strspn(line, " \t");
        good = *line != 0 && ((is_start(line) && keep_start(found, 1)) ||
                              keep(found, "", line));
    }
    free(text);
    snprintf(found->why, DETECT_MAX, "%s has a web: line%s", found->file,
             found->runs_node ? ": the start script of package.json" : "");
    return good;
}

int detect_file_django(detect_found_t *found)
{
    size_t n = strspn(found->file, DETECT_PLAIN);

    snprintf(found->why, DETECT_MAX, "manage.py and %s are there", found->file);
    snprintf(found->command, DETECT_MAX, "%.*s.wsgi", (int)n, found->file);
    return detect_file_exists("manage.py") && found->file[n] == '/';
}

int detect_file_plain(detect_found_t *found)
{
    return found->file[strspn(found->file, DETECT_PLAIN "/")] == 0 &&
           keep(found, "", found->file);
}

int detect_file_daemon(detect_found_t *found)
{
    return detect_file_plain(found) &&
           snprintf(found->command, DETECT_MAX, "%s daemon", found->file) > 0;
}

int detect_file_package(detect_found_t *found)
{
    snprintf(found->why, DETECT_MAX, "%s has a start script", found->file);
    return keep_start(found, 0);
}
