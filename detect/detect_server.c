/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_server.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "detect/detect_text.h"

#define THREADS 16 /* if a process takes any number of requests */

/* How to run a server, for each way in which it gets its socket. */
struct detect_server {
    const char *env; /* what comes before its name */
    const char *name;
    const char *const places[3];     /* files to try before PATH */
    const char *args[3];             /* by APL_LISTEN_*. %u: threads */
    const detect_server_t *several;  /* for several requests at once */
    const detect_server_t *template; /* as AppPreload runs it; NULL: none */
};

/* Puma and gunicorn would say READY=1, or try to, before they are ready. */
#define QUIET         "env -u NOTIFY_SOCKET "

/* There are as many threads as requests at once: with one thread, puma reads
 * the next request of its connection without its reactor. There is no cluster,
 * because the pool replaces it. Puma tells the app where it is mounted only if
 * puma has SCRIPT_NAME. It is encoded, because puma's PATH_INFO is.
 * Speed: with -t 5:5 it serves 0.5 to 1.1 times as many small requests as with
 * -t 1:5, and with -t 0:5 0.6 to 0.8 times. At 10 ms all are equal. */
#define RUBY_TEMPLATE "\"$APPPOOL_HELPERS/ruby/preload.rb\" -t 1:%u"
static const detect_server_t ruby_template = {
    "SCRIPT_NAME=\"$APPPOOL_BASE_URL\" ", "ruby", {NULL},
    {[APL_LISTEN_FD] = RUBY_TEMPLATE},    NULL,   NULL};
const detect_server_t detect_server_puma = {
    QUIET "SCRIPT_NAME=\"$APPPOOL_BASE_URL\" ",
    "puma",
    {"bin/puma"},
    {[APL_LISTEN_FD] = "-t 1:%u --bind-to-activated-sockets only",
     [APL_LISTEN_UNIX] = "-t 1:%u -b unix://%%s",
     [APL_LISTEN_TCP] = "-t 1:%u -b tcp://127.0.0.1:$PORT"},
    NULL,
    &ruby_template};

#define PRELOAD "\"$APPPOOL_HELPERS/python/preload.py\" "
#define PYTHONS                                                                \
    {                                                                          \
        "venv/bin/python", ".venv/bin/python", "env/bin/python"                \
    }

/* With several threads gunicorn uses its gthread worker, which keeps
 * connections. The timeout is off, because AppHungAfter replaces it: the
 * arbiter does not have to watch.
 * Speed: four workers serve half as many small requests as four threads, and
 * two workers with two threads 0.7 to 1.1 times. At 10 ms: 0.8 to 1.0. */
#define GUNICORN "--workers 1 --threads %u --timeout 0 "
static const detect_server_t gunicorn_template = {
    "",   "python3", PYTHONS, {[APL_LISTEN_FD] = PRELOAD "gunicorn " GUNICORN},
    NULL, NULL};
static const detect_server_t gunicorn = {
    QUIET,
    "gunicorn",
    {"venv/bin/gunicorn", ".venv/bin/gunicorn", "env/bin/gunicorn"},
    {[APL_LISTEN_FD] = GUNICORN,
     [APL_LISTEN_UNIX] = GUNICORN "--bind unix:%%s ",
     [APL_LISTEN_TCP] = GUNICORN "--bind 127.0.0.1:$PORT "},
    NULL,
    &gunicorn_template};

/* Our own loader. It serves one request after the other.
 * Speed: gunicorn with one worker serves 0.3 to 0.4 times as many small
 * requests, and with one thread 0.9 times at most. At 10 ms: 0.9 to 1.0. */
#define LOADER "\"$APPPOOL_HELPERS/python/wsgi.py\" "
static const detect_server_t loader_template = {
    "", "python3", PYTHONS, {[APL_LISTEN_FD] = PRELOAD}, NULL, NULL};
const detect_server_t detect_server_wsgi = {
    "",
    "python3",
    PYTHONS,
    {[APL_LISTEN_FD] = LOADER,
     [APL_LISTEN_UNIX] = LOADER "--listen %%s ",
     [APL_LISTEN_TCP] = LOADER "--listen %%s "},
    &gunicorn,
    &loader_template};

/* httpd has an access log: another one costs a fifth of the time of a small
 * response. */
#define UVICORN "--root-path \"$APP_BASE_URI\" --no-access-log "
static const detect_server_t uvicorn_template = {
    "",      "python3",
    PYTHONS, {[APL_LISTEN_FD] = PRELOAD "uvicorn " UVICORN "--fd 3 "},
    NULL,    NULL};
const detect_server_t detect_server_uvicorn = {
    "",
    "uvicorn",
    {"venv/bin/uvicorn", ".venv/bin/uvicorn", "env/bin/uvicorn"},
    {[APL_LISTEN_FD] = UVICORN "--fd 3 ",
     [APL_LISTEN_UNIX] = UVICORN "--uds %%s ",
     [APL_LISTEN_TCP] = UVICORN "--host 127.0.0.1 --port $PORT "},
    NULL,
    &uvicorn_template};

/* A program that listens by itself. */
const detect_server_t detect_server_listen = {
    "",      "python3",
    PYTHONS, {[APL_LISTEN_FD] = "\"$APPPOOL_HELPERS/python/listen.py\" "},
    NULL,    NULL};

/* Children share one opcode cache. By default php-cgi ends after 500 requests.
 * Here MaxRequests sets that number.
 * Speed: five processes without children serve 1.1 to 1.4 times as many
 * requests as one with five, but need three times the memory. */
#define PHP "env PHP_FCGI_MAX_REQUESTS=0 "
#define PHP_ARGS                                                               \
    {                                                                          \
        [APL_LISTEN_FD] = "", [APL_LISTEN_UNIX] = "-b %%s",                    \
        [APL_LISTEN_TCP] = "-b %%s"                                            \
    }
static const detect_server_t phps = {
    PHP "PHP_FCGI_CHILDREN=%u ", "php-cgi", {NULL}, PHP_ARGS, NULL, NULL};
const detect_server_t detect_server_php = {PHP,      "php-cgi", {NULL},
                                           PHP_ARGS, &phps,     NULL};

/* Perl. Our own loader for PSGI serves one request after the other; Mojolicious
 * has a server of its own, whose options stand behind the program. */
#define PSGI "\"$APPPOOL_HELPERS/perl/psgi.pl\" "
const detect_server_t detect_server_psgi = {
    "",
    "perl",
    {NULL},
    {[APL_LISTEN_FD] = PSGI,
     [APL_LISTEN_UNIX] = PSGI "--listen %%s ",
     [APL_LISTEN_TCP] = PSGI "--listen %%s "},
    NULL,
    NULL};
const detect_server_t detect_server_mojo = {
    "MOJO_LISTEN='http://127.0.0.1?fd=3' MOJO_REVERSE_PROXY=1 ",
    "perl",
    {NULL},
    {[APL_LISTEN_FD] = ""},
    NULL,
    NULL};

/* Servers of Ruby that are run only where Bundler allows no puma. */
const detect_server_t detect_server_unicorn = {
    QUIET,
    "bundle exec unicorn",
    {NULL},
    {[APL_LISTEN_FD] = "",
     [APL_LISTEN_UNIX] = "-l %%s",
     [APL_LISTEN_TCP] = "-l 127.0.0.1:$PORT"},
    NULL,
    NULL};
const detect_server_t detect_server_thin = {
    QUIET,
    "bundle exec thin",
    {NULL},
    {[APL_LISTEN_FD] = "start", /* detect_line.h adds our backend */
     [APL_LISTEN_UNIX] = "start -S %%s",
     [APL_LISTEN_TCP] = "start -a 127.0.0.1 -p $PORT"},
    NULL,
    NULL};
const detect_server_t detect_server_falcon = {
    QUIET,
    "bundle exec falcon",
    {NULL},
    {[APL_LISTEN_TCP] = "serve --count 1 --bind http://127.0.0.1:$PORT"},
    NULL,
    NULL};

/* Does Bundler choose the version of puma? */
static int bundled(void)
{
    char *text = detect_text_read(AT_FDCWD, "Gemfile");
    int found = text && strstr(text, "puma");

    free(text);
    return found;
}

/* Choose one of several servers of that name, and add the reason to `why`. */
static const char *choose(const detect_server_t *server, detect_found_t *found)
{
    size_t i, n = strlen(found->why);

    for (i = 0; i < 3 && server->places[i]; i++)
        if (access(server->places[i], X_OK) == 0) {
            snprintf(found->why + n, DETECT_MAX - n, ", and %s",
                     server->places[i]);
            return server->places[i];
        }
    if ((server != &detect_server_puma && server != &ruby_template) ||
        !bundled())
        return server->name;
    snprintf(found->why + n, DETECT_MAX - n, ", and the Gemfile names puma");
    return server == &ruby_template ? "ruby -rbundler/setup"
                                    : "bundle exec puma";
}

/* A server that cannot take the socket. */
static int cannot_listen(detect_found_t *found, const detect_server_t *server,
                         uint32_t listen)
{
    size_t n = strlen(found->why);

    if (server->args[listen])
        return 0;
    snprintf(found->why + n, DETECT_MAX - n,
             ", and %s cannot listen in this way: set AppListen %s",
             server->name,
             server->args[APL_LISTEN_FD]     ? "fd"
             : server->args[APL_LISTEN_UNIX] ? "unix"
                                             : "tcp");
    return 1;
}

void detect_server_command(detect_found_t *found, const detect_server_t *server,
                           const char *application,
                           const detect_config_t *config)
{
    char last[DETECT_MAX];
    unsigned threads = found->concurrency ? found->concurrency : THREADS;
    const char *name, *args;
    size_t n;

    snprintf(last, sizeof last, "%s",
             application ? application : found->command);
    found->command[0] = 0;
    if (cannot_listen(found, server, config->listen))
        return;
    /* gunicorn imports modules only, and ./NAME.wsgi is none. */
    if (server->several && threads > 1 && *last != '.')
        server = server->several;
    /* Libraries of Ruby have been forked by many servers for years. Libraries
     * of Python often start threads when they are imported. */
    found->has_template = !server->template || config->listen != APL_LISTEN_FD
                              ? CONTRACT_PRELOAD_OFF
                          : server->template == &ruby_template
                              ? CONTRACT_PRELOAD_AUTO
                              : CONTRACT_PRELOAD_ON;
    if (found->has_template && (config->is_template || config->says_ready))
        server = server->template;
    else
        found->is_silent = config->says_ready;
    args = server->args[config->listen];
    name = choose(server, found);
    n = (size_t)snprintf(found->command, DETECT_MAX, server->env, threads);
    n += (size_t)snprintf(found->command + n, DETECT_MAX - n, "%s%s ",
                          found->before, name);
    n += (size_t)snprintf(found->command + n, DETECT_MAX - n, args, threads);
    snprintf(found->command + n, DETECT_MAX - n, "%s", last);
}
