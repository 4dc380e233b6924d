/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/table.h"

#include <apr_strings.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/group.h"
#include "spawner/contract.h"

#define FILE_MAX    (64 << 20)
#define SECONDS_MAX 31536000.0

/* The table under construction; `wrong` stops at the first complaint. */
typedef struct {
    table_t *table;
    apr_pool_t *p;
    char *error;
    int wrong;
    const char *where; /* name of the app */
} reader_t;

static void refuse(reader_t *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void refuse(reader_t *r, const char *format, ...)
{
    va_list args;
    int n = 0;

    if (r->wrong++)
        return;
    if (r->where)
        n = snprintf(r->error, TABLE_ERROR_MAX, "app %.80s: ", r->where);
    va_start(args, format);
    vsnprintf(r->error + n, TABLE_ERROR_MAX - (size_t)n, format, args);
    va_end(args);
}

/* ---- values ---- */

static int has_control(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return 1;
    return 0;
}

/* A text without control characters. @param nullable may be null */
static const char *text(reader_t *r, const json_t *o, const char *key,
                        int nullable)
{
    const json_t *v = json_object_get(o, key);
    const char *s = json_string_value(v);

    if (json_is_null(v) && nullable)
        return NULL;
    if (!s || has_control(s)) {
        refuse(r, "\"%s\" is no line of text", key);
        return "";
    }
    return apr_pstrdup(r->p, s);
}

static const char *path(reader_t *r, const json_t *o, const char *key,
                        int nullable)
{
    const char *s = text(r, o, key, nullable);

    if (s && (s[0] != '/' || strlen(s) >= APR_PATH_MAX))
        refuse(r, "\"%s\" is no absolute path", key);
    return s;
}

static int64_t number(reader_t *r, const json_t *o, const char *key,
                      int64_t min, int64_t max)
{
    const json_t *v = json_object_get(o, key);
    json_int_t n = json_integer_value(v);

    if (!json_is_integer(v) || n < min || n > max) {
        refuse(r, "\"%s\" is no number from %lld to %lld", key, (long long)min,
               (long long)max);
        return min;
    }
    return n;
}

static uint32_t count(reader_t *r, const json_t *o, const char *key)
{
    return (uint32_t)number(r, o, key, 0, INT32_MAX);
}

static int truth(reader_t *r, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_boolean(v))
        refuse(r, "\"%s\" is neither true nor false", key);
    return json_is_true(v);
}

/* Seconds, as microseconds. */
static int64_t duration(reader_t *r, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    double s = json_number_value(v);

    if (!json_is_number(v) || !(s >= 0 && s <= SECONDS_MAX)) {
        refuse(r, "\"%s\" is no time in seconds", key);
        return 0;
    }
    return (int64_t)(s * 1e6);
}

/* ---- an app ---- */

/* NAME=value; the mark is nobody's to set. */
static const char *const *environment(reader_t *r, const json_t *o)
{
    json_t *env = json_object_get(o, "env"), *value;
    const char **list, *name;
    size_t n = 0;

    if (!json_is_object(env)) {
        refuse(r, "\"env\" is no object");
        env = NULL;
    }
    list = apr_pcalloc(r->p, (json_object_size(env) + 1) * sizeof *list);
    json_object_foreach(env, name, value)
    {
        const char *s = json_string_value(value);

        if (!s || !*name || strchr(name, '=') || has_control(name))
            refuse(r, "\"env\" has no text for \"%s\"", name);
        else if (strcmp(name, CONTRACT_MARK) == 0)
            refuse(r, "\"env\" must not set %s", name);
        else
            list[n++] = apr_pstrcat(r->p, name, "=", s, NULL);
    }
    return list;
}

static uint32_t listens(reader_t *r, const json_t *o)
{
    static const char *const words[] = {[APL_LISTEN_FD] = "fd",
                                        [APL_LISTEN_UNIX] = "unix",
                                        [APL_LISTEN_TCP] = "tcp"};
    const char *s = text(r, o, "listen", 0);
    uint32_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(s, words[i]) == 0)
            return i;
    refuse(r, "\"listen\" is none of fd, unix, tcp");
    return APL_LISTEN_FD;
}

/* /srv/shop (production) -> shop, /srv/shop/current -> shop */
static const char *label(reader_t *r, const table_app_t *a)
{
    char *s, *slash;

    if (a->app.name[0] != '/')
        return a->app.name;
    s = apr_pstrdup(r->p, a->app.root);
    for (;;) {
        slash = strrchr(s, '/');
        if (!slash || slash == s ||
            (slash[1] != 0 && strcmp(slash, "/current") != 0))
            break;
        *slash = 0;
    }
    return slash && slash[1] ? slash + 1 : a->app.name;
}

static void mix(uint64_t *print, const char *s)
{
    do
        *print = (*print ^ (unsigned char)(s ? *s : 1)) * 0x100000001b3;
    while (s && *s++);
}

static uint64_t fingerprint(const table_app_t *a)
{
    uint64_t print = 0xcbf29ce484222325 ^ a->listen;
    size_t i;

    mix(&print, a->app.root);
    mix(&print, a->command);
    mix(&print, a->user);
    mix(&print, a->group);
    mix(&print, a->environment);
    mix(&print, a->protocol);
    mix(&print, a->base_uri);
    /* In whatever order the parent wrote them. */
    for (i = 0; a->env[i]; i++) {
        uint64_t one = 0xcbf29ce484222325;

        mix(&one, a->env[i]);
        print += one;
    }
    return print;
}

static void read_app(reader_t *r, table_app_t *a, const json_t *o)
{
    apl_options_t *options = &a->app.options;

    r->where = NULL;
    if (!json_is_object(o)) {
        refuse(r, "an app is no object");
        return;
    }
    a->app.name = text(r, o, "name", 0);
    if (!*a->app.name || strlen(a->app.name) >= APL_NAME_MAX)
        refuse(r, "an app's name has 1 to %d bytes", APL_NAME_MAX - 1);
    r->where = a->app.name;
    a->app.key = apl_group_key(a->app.name);
    a->app.root = path(r, o, "root", 0);
    a->label = label(r, a);
    a->command = text(r, o, "command", 1);
    a->user = text(r, o, "user", 1);
    a->group = text(r, o, "group", 1);
    a->environment = text(r, o, "environment", 0);
    a->env = environment(r, o);
    a->protocol = text(r, o, "protocol", 0);
    a->listen = listens(r, o);
    a->log = path(r, o, "log", 1);
    a->base_uri = text(r, o, "base_uri", 0);
    a->start_timeout = duration(r, o, "start_timeout");
    a->stop_timeout = duration(r, o, "stop_timeout");
    a->prestart = truth(r, o, "prestart");
    options->config = r->table->config;
    options->min_instances = count(r, o, "min");
    options->max_instances = count(r, o, "max");
    options->max_requests = count(r, o, "max_requests");
    options->jitter = count(r, o, "jitter");
    options->concurrency = count(r, o, "concurrency");
    options->max_queue = count(r, o, "max_queue");
    options->global_queue = (uint32_t)truth(r, o, "global_queue");
    options->rolling = (uint32_t)truth(r, o, "rolling");
    options->idle_time = duration(r, o, "idle_time");
    options->stat_interval = duration(r, o, "stat_interval");
    a->print = fingerprint(a);
}

static void read_table(reader_t *r, const json_t *o)
{
    table_t *t = r->table;
    const json_t *apps = json_object_get(o, "apps");
    const char *instance;
    uint32_t i;

    number(r, o, "version", 1, 1);
    t->config = (uint32_t)number(r, o, "config", 0, UINT32_MAX);
    t->max_pool_size = (uint32_t)number(r, o, "max_pool_size", 1, INT32_MAX);
    t->httpd_uid = (uid_t)number(r, o, "httpd_uid", 0, UINT32_MAX - 1);
    t->httpd_gid = (gid_t)number(r, o, "httpd_gid", 0, UINT32_MAX - 1);
    t->segment = path(r, o, "segment", 0);
    t->error_log = path(r, o, "error_log", 1);
    instance = text(r, o, "instance", 0);
    if (strlen(instance) != 16 || strspn(instance, "0123456789abcdef") != 16)
        refuse(r, "\"instance\" is not 16 hex digits");
    else
        memcpy(t->instance, instance, 17);
    if (!json_is_array(apps))
        refuse(r, "\"apps\" is no array");
    t->n = (uint32_t)json_array_size(apps);
    t->apps = apr_pcalloc(r->p, (t->n + 1) * sizeof *t->apps);
    for (i = 0; i < t->n && !r->wrong; i++) {
        const table_app_t *a = &t->apps[i], *other;

        read_app(r, &t->apps[i], json_array_get(apps, i));
        other = r->wrong ? a : table_find(t, a->app.name);
        if (other != a)
            refuse(r, "there are two of that name");
    }
}

table_t *table_parse(const char *source, size_t length, apr_pool_t *parent,
                     char *error)
{
    reader_t r = {NULL, NULL, error, 0, NULL};
    json_error_t trouble;
    json_t *o;

    apr_pool_create(&r.p, parent);
    r.table = apr_pcalloc(r.p, sizeof *r.table);
    r.table->pool = r.p;
    o = json_loadb(source, length, JSON_REJECT_DUPLICATES, &trouble);
    if (!json_is_object(o))
        refuse(&r, "line %d: %s", trouble.line, o ? "no object" : trouble.text);
    else
        read_table(&r, o);
    json_decref(o);
    if (!r.wrong)
        return r.table;
    apr_pool_destroy(r.p);
    return NULL;
}

/* ---- the file ---- */

static char *slurp(int fd, size_t *length, char *error)
{
    struct stat st;
    char *source;
    ssize_t n;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX ||
        (st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022)) {
        snprintf(error, TABLE_ERROR_MAX,
                 "it is no file that only root may write");
        return NULL;
    }
    source = malloc((size_t)st.st_size + 1);
    n = source ? read(fd, source, (size_t)st.st_size) : -1;
    if (n != st.st_size) {
        snprintf(error, TABLE_ERROR_MAX, "it could not be read as a whole");
        free(source);
        return NULL;
    }
    *length = (size_t)n;
    return source;
}

table_t *table_load(int dirfd, const char *name, apr_pool_t *parent,
                    char *error)
{
    int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    table_t *table = NULL;
    size_t length = 0;
    char *source;

    if (fd < 0) {
        snprintf(error, TABLE_ERROR_MAX, "it cannot be opened");
        return NULL;
    }
    source = slurp(fd, &length, error);
    close(fd);
    if (source)
        table = table_parse(source, length, parent, error);
    free(source);
    return table;
}

const table_app_t *table_find(const table_t *table, const char *name)
{
    uint64_t key = apl_group_key(name);
    uint32_t i;

    for (i = 0; i < table->n && table->apps[i].app.name; i++)
        if (table->apps[i].app.key == key &&
            strcmp(table->apps[i].app.name, name) == 0)
            return &table->apps[i];
    return NULL;
}
