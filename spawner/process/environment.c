/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/environment.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/url_path.h"

#define OURS   48     /* maximum number of our own variables */
#define NUMBER "5000" /* a PORT on which nobody listens */

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
    set(e, "APPPOOL_PRELOAD=%s",
        boot->app->preload == CONTRACT_PRELOAD_AUTO ? "auto" : "on");
    if (boot->app->ready) {
        set(e, "APPPOOL_WARM=%s", boot->app->ready);
        set(e, "APPPOOL_WARM_HOST=%s", boot->app->host);
    }
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
                     const privilege_t *account)
{
    const char *lang = getenv("LANG");
    int is_plain =
        !lang || !*lang || strcmp(lang, "C") == 0 || strcmp(lang, "POSIX") == 0;

    /* The mark comes first, so that a scan finds it in the first bytes. */
    set(e, "%s=%s-" CONTRACT_ID_FMT, CONTRACT_MARK, instance, id);
    set(e, "PATH=%s", DETECT_PATH_STANDARD);
    set(e, "HOME=%s", account->home);
    set(e, "USER=%s", account->name);
    set(e, "LOGNAME=%s", account->name);
    set(e, "SHELL=%s", account->shell);
    /* Many libraries take text for ASCII otherwise. */
    set(e, "LANG=%s", is_plain ? "C.UTF-8" : lang);
}

char **environment_of_user(const char *instance, uint64_t id,
                           const privilege_t *account)
{
    environment_t e = begin(OURS);

    set_user(&e, instance, id, account);
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

const char *environment_find(const char *const *list, const char *name)
{
    size_t length = strlen(name);
    const char *value = NULL;

    for (; list && *list; list++)
        if (strncmp(*list, name, length) == 0 && (*list)[length] == '=')
            value = *list + length + 1;
    return value;
}

const char *environment_value(const boot_t *boot, char *const *variables,
                              const char *name)
{
    const char *value = environment_find(boot->app->env, name);

    return value ? value
                 : environment_find((const char *const *)variables, name);
}

/* A file that the programs of a language read first. */
typedef struct {
    const char *variable, *file, *before, *after;
    const char *special; /* characters that the variable cannot have there */
} helper_t;

static const helper_t node_helper = {"NODE_OPTIONS", "node/listen.cjs",
                                     "--require \"", "\"", "\"\\"};
/* Of Yarn, in AppRoot: with them, node finds packages without node_modules. */
static const helper_t yarn_helpers[] = {
    {"NODE_OPTIONS", ".pnp.cjs", "--require \"", "\"", "\"\\"},
    {"NODE_OPTIONS", ".pnp.loader.mjs", "--experimental-loader \"file://", "\"",
     "\"\\%?#"},
};
static const helper_t ruby_helper = {"RUBYOPT", "ruby/stop.rb", "-r", "",
                                     " \t\n\v\f\r"};

/* Programs that make a URL from the path need it as it stands in a URL. */
static void set_mount(environment_t *e, const char *base_uri)
{
    char *url = malloc(3 * strlen(base_uri) + 1);

    if (!url)
        return;
    url_path_encode(base_uri, "", url);
    set(e, "APP_BASE_URI=%s", base_uri);
    set(e, "APPPOOL_BASE_URL=%s", url);
    if (*url) /* an empty value would be a wrong path for cookies */
        set(e, "RAILS_RELATIVE_URL_ROOT=%s", url);
    free(url);
}

/* php-cgi that somebody else has named: as the one that is found by
 * index.php. */
static void set_children(environment_t *e, unsigned children)
{
    if (children == 0)
        return;
    set(e, "PHP_FCGI_CHILDREN=%u", children);
    set(e, "PHP_FCGI_MAX_REQUESTS=0");
}

/* As npm does it for a script. */
static void set_package(environment_t *e, const detect_package_t *package)
{
    if (!*package->event)
        return;
    set(e, "npm_lifecycle_event=%s", package->event);
    if (*package->name)
        set(e, "npm_package_name=%s", package->name);
    if (*package->version)
        set(e, "npm_package_version=%s", package->version);
}

/* The programs do not start if they cannot read the file.
 * @param dir of the helper */
static void add_helper(environment_t *e, const char *dir,
                       const helper_t *helper)
{
    const char *own =
        environment_find((const char *const *)e->list, helper->variable);
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", dir, helper->file) <
            (int)sizeof path &&
        !strpbrk(path, helper->special) && access(path, R_OK) == 0)
        set(e, "%s=%s%s%s%s%s", helper->variable, own ? own : "",
            own ? " " : "", helper->before, path, helper->after);
}

char **environment_make(const boot_t *boot, const privilege_t *account,
                        const detect_path_t *path, char *const *variables,
                        const detect_found_t *found)
{
    static const char *const modes[] = {"APPPOOL_ENV", "RAILS_ENV", "RACK_ENV",
                                        "NODE_ENV", "MOJO_MODE"};
    const char *const *of_file = (const char *const *)variables;
    const char *const *of_path = (const char *const *)path->variables;
    const app_entry_t *app = boot->app;
    environment_t e =
        begin(OURS + count(app->store_env) + count(of_file) + count(app->env));
    size_t i;

    set_user(&e, boot->instance, boot->id, account);
    set(&e, "PATH=%s", path->path);
    put_all(&e, of_path);
    for (i = 0; i < sizeof modes / sizeof *modes; i++)
        set(&e, "%s=%s", modes[i], app->environment);
    set_mount(&e, app->base_uri);
    set(&e, "PYTHONUNBUFFERED=1");
    if (boot->helpers)
        set(&e, "APPPOOL_HELPERS=%s", boot->helpers);
    set_package(&e, &found->package);
    set_socket(&e, boot);
    if (found->uses_port && app->listen != APL_LISTEN_TCP)
        set(&e, "PORT=" NUMBER);
    /* Without it, SvelteKit takes every request for one over TLS, and refuses
     * the forms of a site that has none. */
    if (found->runs_node && app->listen != APL_LISTEN_TCP)
        set(&e, "PROTOCOL_HEADER=x-forwarded-proto");
    if (boot->is_template)
        set_template(&e, boot);
    set_children(&e, found->children);
    put_all(&e, app->store_env);
    put_all(&e, of_file);
    put_all(&e, app->env);
    for (i = 0; i < 2 && found->runs_node; i++)
        add_helper(&e, path->root, &yarn_helpers[i]);
    if (boot->helpers && found->runs_node && app->listen == APL_LISTEN_FD)
        add_helper(&e, boot->helpers, &node_helper);
    if (boot->helpers && found->runs_ruby)
        add_helper(&e, boot->helpers, &ruby_helper);
    return e.list;
}

/* ---- limits ---- */

static const char *name_of(int resource)
{
    return resource == RLIMIT_CPU  ? "RLimitCPU"
           : resource == RLIMIT_AS ? "RLimitMEM"
                                   : "RLimitNPROC";
}

const char *environment_limit(const app_entry_t *app,
                              const struct rlimit *descriptors)
{
    int i;

    setrlimit(RLIMIT_NOFILE, descriptors);
    for (i = 0; i < app->n_rlimits; i++) {
        const app_rlimit_t *l = &app->rlimits[i];

        if (setrlimit((__rlimit_resource_t)l->resource, &l->to) != 0)
            return name_of(l->resource);
    }
    return NULL;
}
