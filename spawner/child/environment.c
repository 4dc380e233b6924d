/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/child/environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OURS 24 /* maximum number of our own variables */

#define STANDARD_PATH                                                          \
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

typedef struct {
    char **list;
    size_t n, room;
} environment_t;

/* A variable replaces an earlier one of that name. */
static void put(environment_t *e, char *entry)
{
    size_t i, length = strcspn(entry, "=") + 1;

    for (i = 0; i < e->n; i++)
        if (strncmp(e->list[i], entry, length) == 0) {
            e->list[i] = entry;
            return;
        }
    if (e->n < e->room)
        e->list[e->n++] = entry;
}

static void set(environment_t *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set(environment_t *e, const char *format, ...)
{
    va_list args;
    char *entry;

    va_start(args, format);
    if (vasprintf(&entry, format, args) >= 0)
        put(e, entry);
    va_end(args);
}

static void set_socket(environment_t *e, const boot_t *boot)
{
    process_files_path_t path;

    switch (boot->app->listen) {
    case APL_LISTEN_FD:
        set(e, "LISTEN_FDS=1");
        set(e, "LISTEN_PID=%d", (int)getpid());
        set(e, "LISTEN_FDNAMES=apppool%s", boot->is_template ? "-fork" : "");
        break;
    case APL_LISTEN_UNIX:
        process_files_path(boot->rt, CONTRACT_OWN, boot->id, path);
        set(e, "APPPOOL_SOCKET=%s", path);
        break;
    default:
        set(e, "PORT=%u", boot->port);
        set(e, "HOST=127.0.0.1");
    }
    /* Over a Unix socket, uvicorn uses X-Forwarded headers only if it trusts
     * all clients. Only httpd can connect to this socket; with AppListen unix,
     * so can an app that runs in httpd's group. */
    if (boot->app->listen != APL_LISTEN_TCP)
        set(e, "FORWARDED_ALLOW_IPS=*");
    process_files_path(boot->rt, CONTRACT_NOTIFY, boot->id, path);
    set(e, "NOTIFY_SOCKET=%s", path);
}

static void set_template(environment_t *e, const boot_t *boot)
{
    set(e, "APPPOOL_FORK=1");
    if (boot->app->ready)
        set(e, "APPPOOL_WARM=%s", boot->app->ready);
}

static environment_t begin(size_t room)
{
    environment_t e = {NULL, 0, room};

    e.list = calloc(room + 1, sizeof *e.list);
    if (!e.list)
        _exit(1);
    return e;
}

static void set_user(environment_t *e, const char *instance, uint64_t id,
                     const privilege_t *who)
{
    const char *lang = getenv("LANG");

    /* The mark comes first, so that a scan finds it in the first bytes. */
    set(e, "%s=%s-" CONTRACT_ID_FMT, CONTRACT_MARK, instance, id);
    set(e, "PATH=%s", STANDARD_PATH);
    set(e, "HOME=%s", who->home);
    set(e, "USER=%s", who->name);
    set(e, "LOGNAME=%s", who->name);
    set(e, "SHELL=%s", who->shell);
    if (lang)
        set(e, "LANG=%s", lang);
}

char **environment_of_user(const char *instance, uint64_t id,
                           const privilege_t *who)
{
    environment_t e = begin(OURS);

    set_user(&e, instance, id, who);
    return e.list;
}

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static void put_all(environment_t *e, const char *const *list)
{
    for (; list && *list; list++)
        put(e, (char *)(uintptr_t)*list);
}

char **environment_make(const boot_t *boot, const privilege_t *who,
                        char *const *variables)
{
    static const char *const modes[] = {"APPPOOL_ENV", "RAILS_ENV", "RACK_ENV",
                                        "NODE_ENV"};
    const char *const *of_file = (const char *const *)variables;
    const app_entry_t *app = boot->app;
    environment_t e = begin(OURS + count(of_file) + count(app->env));
    size_t i;

    set_user(&e, boot->instance, boot->id, who);
    for (i = 0; i < sizeof modes / sizeof *modes; i++)
        set(&e, "%s=%s", modes[i], app->environment);
    set(&e, "APP_BASE_URI=%s", app->base_uri);
    if (*app->base_uri) /* an empty value would be a wrong path for cookies */
        set(&e, "RAILS_RELATIVE_URL_ROOT=%s", app->base_uri);
    if (boot->helpers)
        set(&e, "APPPOOL_HELPERS=%s", boot->helpers);
    set_socket(&e, boot);
    if (boot->is_template)
        set_template(&e, boot);
    put_all(&e, of_file);
    put_all(&e, app->env);
    return e.list;
}
