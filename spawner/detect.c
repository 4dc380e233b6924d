/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/detect.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/format.h"

#define FILE_MAX 65536
#define THREADS  16 /* where a process takes any number of requests */

/* Reads the command out of the file. @return 0: there is none in it */
typedef int read_t(char *command, const char *file);

static read_t procfile, package;

/* A server by the way it gets its socket. Order as APL_LISTEN_*. */
typedef struct {
    const char *const places[3]; /* where it may be, besides in PATH */
    const char *args[3];         /* %u: threads; %s: see boot.c */
} server_t;

/* Both would say READY=1, or try to, before they are. */
#define QUIET "env -u NOTIFY_SOCKET "

static const server_t puma = {
    {"bin/puma"},
    {[APL_LISTEN_FD] = "-t 1:%u --bind-to-activated-sockets only",
     [APL_LISTEN_UNIX] = "-t 1:%u -b unix://%%s",
     [APL_LISTEN_TCP] = "-t 1:%u -b tcp://127.0.0.1:$PORT"}};

#define GUNICORN "--workers 1 --threads %u --timeout 0 "
static const server_t gunicorn = {
    {"venv/bin/gunicorn", ".venv/bin/gunicorn", "env/bin/gunicorn"},
    {[APL_LISTEN_FD] = GUNICORN,
     [APL_LISTEN_UNIX] = GUNICORN "--bind unix:%%s ",
     [APL_LISTEN_TCP] = GUNICORN "--bind 127.0.0.1:$PORT "}};

/* THE TABLE: the first file that is there and tells decides. */
static const struct {
    const char *file;
    read_t *read;           /* from the file's content, or: */
    const server_t *server; /* this server, or NULL: */
    const char *command;    /* this command; the server's last argument */
} rules[] = {
    {"Procfile", procfile, NULL, NULL},
    {"config.ru", NULL, &puma, ""},
    {"passenger_wsgi.py", NULL, &gunicorn, "passenger_wsgi"},
    {"wsgi.py", NULL, &gunicorn, "wsgi"},
    {"package.json", package, NULL, NULL},
    {"server.js", NULL, NULL, "node server.js"},
    {"app.js", NULL, NULL, "node app.js"},
};

static int is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The beginning of a file, to be freed. */
static char *content(const char *path)
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

/* "web: COMMAND" */
static int procfile(char *command, const char *file)
{
    char *text = content(file), *line, *rest = NULL;
    int found = 0;

    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line && !found;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (strncmp(line, "web:", 4) != 0)
            continue;
        line += 4;
        line += strspn(line, " \t");
        found = *line != 0 &&
                snprintf(command, DETECT_MAX, "%s", line) < DETECT_MAX;
    }
    free(text);
    return found;
}

/* "scripts": {"start": COMMAND} */
static int package(char *command, const char *file)
{
    char *text = content(file);
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;
    const char *start = json_string_value(
        json_object_get(json_object_get(o, "scripts"), "start"));
    int found = start && *start &&
                snprintf(command, DETECT_MAX,
                         "env PATH=\"$PWD/node_modules/.bin:$PATH\" %s",
                         start) < DETECT_MAX;

    json_decref(o);
    free(text);
    return found;
}

/* Does Bundler decide which puma? */
static int bundled(void)
{
    char *text = content("Gemfile");
    int found = text && strstr(text, "puma");

    free(text);
    return found;
}

static void serve(char *command, const server_t *server, const char *last,
                  uint32_t listen, unsigned threads)
{
    const char *name = server == &puma ? "puma" : "gunicorn";
    size_t i;
    int n;

    for (i = 0; i < 3 && server->places[i]; i++)
        if (access(server->places[i], X_OK) == 0) {
            name = server->places[i];
            break;
        }
    if (server == &puma && name[0] == 'p' && bundled())
        name = "bundle exec puma";
    n = snprintf(command, DETECT_MAX, QUIET "%s ", name);
    n += snprintf(command + n, (size_t)(DETECT_MAX - n), server->args[listen],
                  threads);
    snprintf(command + n, (size_t)(DETECT_MAX - n), "%s", last);
}

int detect_command(char *command, uint32_t listen, uint32_t concurrency)
{
    size_t i, n = 0;

    for (i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!is_file(rules[i].file))
            continue;
        if (rules[i].read) {
            if (!rules[i].read(command, rules[i].file))
                continue;
        }
        else if (rules[i].server)
            serve(command, rules[i].server, rules[i].command, listen,
                  concurrency ? concurrency : THREADS);
        else
            snprintf(command, DETECT_MAX, "%s", rules[i].command);
        return 1;
    }
    command[0] = 0;
    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        n += (size_t)snprintf(command + n, DETECT_MAX - n, "%s%s",
                              i ? ", " : "", rules[i].file);
    return 0;
}
