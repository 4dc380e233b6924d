/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/shared/detect.h"

#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 65536
#define THREADS  16 /* if a process takes any number of requests */
#define CHILDREN 5  /* of php-cgi */
#define ANY      0  /* number of requests at once */
#define PLAIN                                                                  \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

/* Reads the command, or the last argument of the server, from the file. It also
 * fills in `why`. @return 0: there is none in it */
typedef int read_t(detect_found_t *found);

static read_t procfile, django, package;

/* How to run a server, for each way in which it gets its socket. */
typedef struct server {
    const char *env; /* what comes before its name */
    const char *name;
    const char *const places[3];  /* files to try before PATH */
    const char *args[3];          /* by APL_LISTEN_*. %u: threads */
    const struct server *several; /* replaces it for several requests at once */
} server_t;

/* Puma and gunicorn would say READY=1, or try to, before they are ready. */
#define QUIET "env -u NOTIFY_SOCKET "

/* Puma tells the app where it is mounted only if SCRIPT_NAME tells puma. */
static const server_t puma = {
    QUIET "SCRIPT_NAME=\"$APP_BASE_URI\" ",
    "puma",
    {"bin/puma"},
    {[APL_LISTEN_FD] = "-t 1:%u --bind-to-activated-sockets only",
     [APL_LISTEN_UNIX] = "-t 1:%u -b unix://%%s",
     [APL_LISTEN_TCP] = "-t 1:%u -b tcp://127.0.0.1:$PORT"},
    NULL};

#define GUNICORN "--workers 1 --threads %u --timeout 0 "
static const server_t gunicorn = {
    QUIET,
    "gunicorn",
    {"venv/bin/gunicorn", ".venv/bin/gunicorn", "env/bin/gunicorn"},
    {[APL_LISTEN_FD] = GUNICORN,
     [APL_LISTEN_UNIX] = GUNICORN "--bind unix:%%s ",
     [APL_LISTEN_TCP] = GUNICORN "--bind 127.0.0.1:$PORT "},
    NULL};

#define UVICORN "--root-path \"$APP_BASE_URI\" "
static const server_t uvicorn = {
    "",
    "uvicorn",
    {"venv/bin/uvicorn", ".venv/bin/uvicorn", "env/bin/uvicorn"},
    {[APL_LISTEN_FD] = UVICORN "--fd 3 ",
     [APL_LISTEN_UNIX] = UVICORN "--uds %%s ",
     [APL_LISTEN_TCP] = UVICORN "--host 127.0.0.1 --port $PORT "},
    NULL};

/* By default it ends after 500 requests. Here, MaxRequests has that number. */
#define PHP "env PHP_FCGI_MAX_REQUESTS=0 "
#define PHP_ARGS                                                               \
    {                                                                          \
        [APL_LISTEN_FD] = "", [APL_LISTEN_UNIX] = "-b %%s",                    \
        [APL_LISTEN_TCP] = "-b %%s"                                            \
    }
static const server_t phps = {
    PHP "PHP_FCGI_CHILDREN=%u ", "php-cgi", {NULL}, PHP_ARGS, NULL};
static const server_t php = {PHP, "php-cgi", {NULL}, PHP_ARGS, &phps};

/* THE TABLE: the first file that exists and gives a command decides. A rule
 * with a server runs that server, and `command` is its last argument. Other
 * rules run `command`. If that is NULL, what `read` found takes its place; or,
 * without `read`, the file itself. */
static const struct {
    const char *file;       /* or a pattern */
    uint32_t protocol;      /* AppProtocol; APL_AUTO: any */
    uint32_t concurrency;   /* AppConcurrency that suits it */
    read_t *read;           /* reads the file; NULL: nothing to read */
    const server_t *server; /* NULL: none */
    const char *command;    /* NULL: see above */
} rules[] = {
    {"Procfile", APL_AUTO, 1, procfile, NULL, NULL},
    {"config.ru", APL_HTTP, 1, NULL, &puma, ""},
    {"passenger_wsgi.py", APL_HTTP, 1, NULL, &gunicorn, "passenger_wsgi"},
    {"wsgi.py", APL_HTTP, 1, NULL, &gunicorn, "wsgi"},
    {"asgi.py", APL_HTTP, ANY, NULL, &uvicorn, "asgi:application"},
    {"*/wsgi.py", APL_HTTP, 1, django, &gunicorn, NULL},
    {"package.json", APL_HTTP, ANY, package, NULL, NULL},
    {"server.js", APL_HTTP, ANY, NULL, NULL, "node server.js"},
    {"app.js", APL_HTTP, ANY, NULL, NULL, "node app.js"},
    {"*.fcgi", APL_FCGI, 1, NULL, NULL, NULL},
    {"index.php", APL_FCGI, CHILDREN, NULL, &php, ""},
    {"public/index.php", APL_FCGI, CHILDREN, NULL, &php, ""},
};

/* Commands that take any number of requests at once. */
static const char *const evented[] = {"node", "npm",    "npx",       "uvicorn",
                                      "deno", "nodejs", "hypercorn", "daphne",
                                      "bun",  NULL};

static int fits(size_t rule, const detect_config_t *config)
{
    return rules[rule].protocol == APL_AUTO || config->protocol == APL_AUTO ||
           rules[rule].protocol == config->protocol;
}

static int is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* @return the first FILE_MAX bytes of a file. The caller frees them */
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

static int keep(detect_found_t *found, const char *format, const char *command)
{
    return snprintf(found->command, DETECT_MAX, format, command) < DETECT_MAX;
}

/* "web: COMMAND" */
static int procfile(detect_found_t *found)
{
    char *text = content(found->file), *line, *rest = NULL;
    int good = 0;

    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line && !good;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (strncmp(line, "web:", 4) != 0)
            continue;
        line += 4;
        line += strspn(line, " \t");
        good = *line != 0 && keep(found, "%s", line);
    }
    free(text);
    snprintf(found->why, DETECT_MAX, "%s has a web: line", found->file);
    return good;
}

/* SITE/wsgi.py beside manage.py is the module SITE.wsgi */
static int django(detect_found_t *found)
{
    size_t n = strspn(found->file, PLAIN);

    snprintf(found->why, DETECT_MAX, "manage.py and %s are there", found->file);
    snprintf(found->command, DETECT_MAX, "%.*s.wsgi", (int)n, found->file);
    return is_file("manage.py") && found->file[n] == '/';
}

/* "scripts": {"start": COMMAND} */
static int package(detect_found_t *found)
{
    char *text = content(found->file);
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;
    const char *start = json_string_value(
        json_object_get(json_object_get(o, "scripts"), "start"));
    int good =
        start && *start &&
        keep(found, "env PATH=\"$PWD/node_modules/.bin:$PATH\" %s", start);

    json_decref(o);
    free(text);
    snprintf(found->why, DETECT_MAX, "%s has a start script", found->file);
    return good;
}

/* Does Bundler choose the version of puma? */
static int bundled(void)
{
    char *text = content("Gemfile");
    int found = text && strstr(text, "puma");

    free(text);
    return found;
}

/* Choose between several servers of that name, and add the reason to `why`. */
static const char *choose(const server_t *server, detect_found_t *found)
{
    size_t i, n = strlen(found->why);

    for (i = 0; i < 3 && server->places[i]; i++)
        if (access(server->places[i], X_OK) == 0) {
            snprintf(found->why + n, DETECT_MAX - n, ", and %s",
                     server->places[i]);
            return server->places[i];
        }
    if (server != &puma || !bundled())
        return server->name;
    snprintf(found->why + n, DETECT_MAX - n, ", and the Gemfile names puma");
    return "bundle exec puma";
}

static int serve(detect_found_t *found, const server_t *server,
                 const char *last, const detect_config_t *config)
{
    char argument[DETECT_MAX];
    unsigned threads = found->concurrency ? found->concurrency : THREADS;
    const char *name;
    size_t n;

    snprintf(argument, sizeof argument, "%s", found->command);
    if (server->several && threads > 1)
        server = server->several;
    name = choose(server, found);
    n = (size_t)snprintf(found->command, DETECT_MAX, server->env, threads);
    n += (size_t)snprintf(found->command + n, DETECT_MAX - n, "%s ", name);
    n += (size_t)snprintf(found->command + n, DETECT_MAX - n,
                          server->args[config->listen], threads);
    snprintf(found->command + n, DETECT_MAX - n, "%s", last ? last : argument);
    return 1;
}

/* The file itself is the program. It takes its socket as descriptor 0 only, and
 * its name must need no quotes in a shell. */
static int program(detect_found_t *found, const detect_config_t *config)
{
    return config->listen == APL_LISTEN_FD && access(found->file, X_OK) == 0 &&
           found->file[strspn(found->file, PLAIN)] == 0 &&
           keep(found, "./%s", found->file);
}

/* Check the first word that is no option, variable or `env`. */
static int is_evented(const char *command)
{
    char text[DETECT_MAX], *word, *name, *rest = NULL;
    size_t i;

    snprintf(text, sizeof text, "%s", command);
    for (word = strtok_r(text, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest)) {
        name = strrchr(word, '/');
        name = name ? name + 1 : word;
        if (*word == '-' || strchr(word, '=') || strcmp(name, "env") == 0 ||
            strcmp(word, "exec") == 0)
            continue;
        for (i = 0; evented[i]; i++)
            if (strcmp(name, evented[i]) == 0)
                return 1;
        return 0;
    }
    return 0;
}

/* @param suitable number for this kind of app */
static uint32_t concurrency_of(const detect_config_t *config, uint32_t suitable)
{
    return config->concurrency != APL_CONCURRENCY_AUTO ? config->concurrency
                                                       : suitable;
}

void detect_given(const detect_config_t *config, const char *command,
                  detect_found_t *found)
{
    memset(found, 0, sizeof *found);
    snprintf(found->why, sizeof found->why, "there is an AppCommand");
    found->protocol =
        config->protocol == APL_AUTO ? APL_HTTP : config->protocol;
    found->concurrency = is_evented(command) ? ANY : 1;
}

static int apply(size_t rule, detect_found_t *found,
                 const detect_config_t *config)
{
    found->concurrency = concurrency_of(config, rules[rule].concurrency);
    snprintf(found->why, DETECT_MAX, "%s is there", found->file);
    if (rules[rule].read && !rules[rule].read(found))
        return 0;
    if (rules[rule].server)
        return serve(found, rules[rule].server, rules[rule].command, config);
    if (rules[rule].read)
        return 1;
    return rules[rule].command ? keep(found, "%s", rules[rule].command)
                               : program(found, config);
}

static void explain_none(detect_found_t *found, const detect_config_t *config,
                         const char *other)
{
    const char *between = "there is none of ";
    size_t i, n = 0;

    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits(i, config)) {
            n += (size_t)snprintf(found->why + n, DETECT_MAX - n, "%s%s",
                                  between, rules[i].file);
            between = ", ";
        }
    if (*other)
        snprintf(found->why + n, DETECT_MAX - n,
                 "; %s is for another "
                 "AppProtocol",
                 other);
    found->command[0] = found->file[0] = 0;
}

/* Try the files of a rule, one after the other. @return 1: one gives a
 * command */
static int try_rule(size_t rule, detect_found_t *found,
                    const detect_config_t *config, char *other)
{
    glob_t files;
    size_t i;
    int done = 0;

    if (glob(rules[rule].file, 0, NULL, &files) != 0)
        return 0;
    for (i = 0; i < files.gl_pathc && !done; i++) {
        const char *file = files.gl_pathv[i];

        if (!is_file(file) || strlen(file) >= sizeof found->file)
            continue;
        snprintf(fits(rule, config) ? found->file : other, sizeof found->file,
                 "%s", file);
        done = fits(rule, config) && apply(rule, found, config);
    }
    globfree(&files);
    return done;
}

int detect_command(const detect_config_t *config, detect_found_t *found)
{
    char other[sizeof found->file] = "";
    size_t i;

    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        if (try_rule(i, found, config, other)) {
            found->protocol = rules[i].protocol != APL_AUTO  ? rules[i].protocol
                              : config->protocol != APL_AUTO ? config->protocol
                                                             : APL_HTTP;
            /* A Procfile may name any program. */
            if (rules[i].protocol == APL_AUTO && is_evented(found->command))
                found->concurrency = concurrency_of(config, ANY);
            return 1;
        }
    explain_none(found, config, other);
    return 0;
}

uint32_t detect_protocol(const char *dir, const char **file)
{
    char path[PATH_MAX];
    struct stat st;
    size_t i;

    for (i = 0; i < sizeof rules / sizeof *rules; i++) {
        *file = rules[i].file;
        if (!strchr(*file, '*') &&
            snprintf(path, sizeof path, "%s/%s", dir, *file) <
                (int)sizeof path &&
            stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return rules[i].protocol == APL_AUTO ? APL_HTTP : rules[i].protocol;
    }
    return APL_AUTO;
}
