/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/app_table.h"

#include <apr_strings.h>
#include <apr_tables.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "base/contract.h"
#include "base/heartbeat.h"
#include "base/json_reader.h"
#include "base/userdb.h"

#define APPS_MAX 65536
#define FILE_MAX (1 << 30) /* bytes: 16 KB for each of them */

_Static_assert(APP_TABLE_ERROR_MAX == JSON_READER_ERROR_MAX,
               "the reader writes there");

/* ---- what a process is made from: when that changes, it is replaced ---- */

static void mix(uint64_t *print, const char *s)
{
    do
        *print = (*print ^ (unsigned char)(s ? *s : 1)) * 0x100000001b3;
    while (s && *s++);
}

static void mix_number(uint64_t *print, uint64_t n)
{
    *print = (*print ^ n) * 0x100000001b3;
}

/* It does not depend on the order of the variables. */
static uint64_t sum(const char *const *variables)
{
    uint64_t all = 0;

    for (; *variables; variables++) {
        uint64_t one = 0xcbf29ce484222325;

        mix(&one, *variables);
        all += one;
    }
    return all;
}

static uint64_t fingerprint(const app_entry_t *a)
{
    uint64_t print = 0xcbf29ce484222325 ^ a->listen ^ a->protocol << 8;
    int l;

    for (l = 0; l < a->n_rlimits; l++) {
        mix_number(&print, (uint64_t)a->rlimits[l].resource);
        mix_number(&print, a->rlimits[l].to.rlim_cur);
        mix_number(&print, a->rlimits[l].to.rlim_max);
    }
    mix_number(&print, (uint64_t)a->no_new_privileges);
    if (!a->command) /* then a command is found, and gets a number of threads */
        mix_number(&print, a->app.options.concurrency);
    mix(&print, a->app.root);
    mix(&print, a->command);
    mix(&print, a->user);
    mix(&print, a->group);
    mix(&print, a->environment);
    mix(&print, a->base_uri);
    mix(&print, a->env_file);
    return print + sum(a->env) + sum(a->store_env);
}

/* ---- an app ---- */

/* A list of NAME=value. The mark cannot be set. */
static const char *const *environment(json_reader_t *r, const json_t *o,
                                      const char *key)
{
    json_t *env = json_object_get(o, key), *value;
    apr_pool_t *scratch = apr_hash_pool_get(r->kept);
    const char **list, *name;
    size_t n = 0;

    if (!json_is_object(env)) {
        json_reader_refuse(r, "\"%s\" is no object", key);
        env = NULL;
    }
    list = apr_pcalloc(scratch, (json_object_size(env) + 1) * sizeof *list);
    json_object_foreach(env, name, value)
    {
        const char *s = json_string_value(value);

        if (!s || !*name || strchr(name, '=') || json_reader_has_control(name))
            json_reader_refuse(r, "\"%s\" has no text for \"%s\"", key, name);
        else if (strcmp(name, CONTRACT_MARK) == 0)
            json_reader_refuse(r, "\"%s\" must not set %s", key, name);
        else
            list[n++] = json_reader_keep_text(
                r, apr_pstrcat(scratch, name, "=", s, NULL));
    }
    return json_reader_keep(r, list, (n + 1) * sizeof *list);
}

/* The lines of a text. */
static const char *const *read_directives(json_reader_t *r, const json_t *o)
{
    const char *s = json_string_value(json_object_get(o, "directives"));
    apr_pool_t *scratch = apr_hash_pool_get(r->kept);
    apr_array_header_t *lines = apr_array_make(scratch, 64, sizeof s);
    char *line, *rest;

    if (!s)
        json_reader_refuse(r, "\"directives\" is no text");
    line = apr_strtok(apr_pstrdup(scratch, s ? s : ""), "\n", &rest);
    for (; line; line = apr_strtok(NULL, "\n", &rest))
        APR_ARRAY_PUSH(lines, const char *) = json_reader_keep_text(r, line);
    APR_ARRAY_PUSH(lines, const char *) = NULL;
    return json_reader_keep(r, lines->elts, (size_t)lines->nelts * sizeof line);
}

/* @return its index among the words */
static uint32_t read_word(json_reader_t *r, const json_t *o, const char *key,
                          const char *words)
{
    const char *s = json_reader_text(r, o, key, 0);
    size_t n = strlen(s);
    uint32_t i;

    for (i = 0; *words; i++) {
        size_t length = strcspn(words, " ");

        if (n == length && strncmp(s, words, n) == 0)
            return i;
        words += length + (words[length] == ' ');
    }
    json_reader_refuse(r, "\"%s\" is not what it may be", key);
    return 0;
}

/* A text without a default may be null. */
static int is_null(const char *otherwise)
{
    return !otherwise;
}

#define LEAST(least, most, zero)     least
#define WORDS_OF(least, most, words) words
#define READ_SWITCH(key, otherwise, range)                                     \
    (json_reader_boolean(r, o, key) ? 1 : 0)
#define READ_PAIR(key, otherwise, range)                                       \
    (json_reader_boolean(r, o, key) ? 1 : 0)
#define READ_TIME(key, otherwise, range)   json_reader_duration(r, o, key)
#define READ_NUMBER(key, otherwise, range) json_reader_count(r, o, key)
#define READ_SIZE(key, otherwise, range)                                       \
    json_reader_number(r, o, key, 0, INT64_MAX)
#define READ_SIGNAL(key, otherwise, range)                                     \
    (int)json_reader_number(r, o, key, LEAST range, SIGRTMAX)
#define READ_TEXT(key, otherwise, range)                                       \
    json_reader_text(r, o, key, is_null(otherwise))
#define READ_PATH(key, otherwise, range)                                       \
    json_reader_path(r, o, key, is_null(otherwise))
#define READ_WORD(key, otherwise, range) read_word(r, o, key, WORDS_OF range)

/* The values of directives. */
static void read_settings(json_reader_t *r, app_entry_t *a, const json_t *o)
{
#define SETTING(...)
#define SENT(kind, name, class, field, otherwise, key, range, help)            \
    a->field = READ_##kind(key, otherwise, range);
#define POOL(kind, name, class, field, otherwise, key, range, help)            \
    a->app.options.field = READ_##kind(key, otherwise, range);
#include "base/settings.def"
}

/* This becomes a line of a request, so it must not end that line. */
static int is_visible(const char *s)
{
    for (; *s > ' ' && *s < 0x7f; s++)
        ;
    return *s == 0;
}

static void read_ready(json_reader_t *r, app_entry_t *a, const json_t *o)
{
    const char *ready = json_reader_text(r, o, "ready", 0);

    a->host = json_reader_text(r, o, "host", 0);
    a->notifies = strcmp(ready, "notify") == 0;
    if (*ready == '/' && is_visible(ready))
        a->ready = ready;
    else if (!a->notifies && strcmp(ready, "accept") != 0)
        json_reader_refuse(r, "\"ready\" is none of notify, accept, a path");
    if (a->ready && !is_visible(a->host))
        json_reader_refuse(r, "\"host\" is no name");
    if (a->ready && a->protocol != APL_HTTP && a->protocol != APL_AUTO)
        json_reader_refuse(r,
                           "\"ready\" is a path, and \"protocol\" is not http");
}

/* Most tables have none. */
static const char *error_format(json_reader_t *r, const json_t *o)
{
    const char *s = json_object_get(o, "error_format")
                        ? json_reader_text(r, o, "error_format", 0)
                        : NULL;

    if (s && (!*s || strlen(s) >= CONTRACT_FORMAT_MAX))
        json_reader_refuse(r, "\"error_format\" is empty or too long");
    return s;
}

static void read_log(json_reader_t *r, app_entry_t *a, const json_t *o)
{
    a->log = json_reader_text(r, o, "log", 1);
    a->error_format = error_format(r, o);
    if (a->log && (!strchr("/|=", *a->log) || !a->log[0] || !a->log[1]))
        json_reader_refuse(r, "\"log\" is no path, command or error log");
}

static rlim_t rlimit(const json_t *v)
{
    json_int_t n = json_integer_value(v);

    return n < 0 ? RLIM_INFINITY : (rlim_t)n;
}

static void read_rlimits(json_reader_t *r, app_entry_t *a, const json_t *o)
{
    static const struct {
        const char *key;
        int resource;
    } kinds[] = {
        {"cpu", RLIMIT_CPU}, {"mem", RLIMIT_AS}, {"nproc", RLIMIT_NPROC}};
    const json_t *limits = json_object_get(o, "rlimits");
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *v = json_object_get(limits, kinds[i].key);
        const json_t *soft = json_array_get(v, 0), *hard = json_array_get(v, 1);
        app_rlimit_t *to = &a->rlimits[a->n_rlimits];

        if (json_is_null(v))
            continue;
        if (!json_is_integer(soft) || !json_is_integer(hard)) {
            json_reader_refuse(r, "\"rlimits\" has no two numbers for \"%s\"",
                               kinds[i].key);
            return;
        }
        to->resource = kinds[i].resource;
        to->to.rlim_cur = rlimit(soft);
        to->to.rlim_max = rlimit(hard);
        a->n_rlimits++;
    }
}

static void read_preload(json_reader_t *r, app_entry_t *a, const json_t *o)
{
    a->preload = (int)json_reader_number(r, o, "preload", CONTRACT_PRELOAD_OFF,
                                         CONTRACT_PRELOAD_AUTO);
    a->preload_idle = json_reader_duration(r, o, "preload_idle");
    /* Without a command, the files decide: see boot.c. */
    if (a->preload &&
        (a->listen != APL_LISTEN_FD ||
         (a->protocol != APL_HTTP && (a->command || a->protocol != APL_AUTO))))
        json_reader_refuse(r, "\"preload\" needs http and fd");
}

static apl_capacity_t capacity(json_reader_t *r, const json_t *o)
{
    apl_capacity_t n;

    n.groups =
        (uint32_t)json_reader_number(r, o, "groups", 1, APL_PROCESSES_MAX);
    n.processes =
        (uint32_t)json_reader_number(r, o, "processes", 1, APL_PROCESSES_MAX);
    n.sessions =
        (uint32_t)json_reader_number(r, o, "sessions", 1, APL_SESSIONS_MAX);
    n.children =
        (uint32_t)json_reader_number(r, o, "children", 1, APL_SESSIONS_MAX);
    return n;
}

/* null: it is not known, or not needed. */
static uid_t read_user(json_reader_t *r, const json_t *o, const char *key)
{
    if (json_is_null(json_object_get(o, key)))
        return USERDB_NOBODY;
    return (uid_t)json_reader_number(r, o, key, 0, UINT32_MAX - 1);
}

static void read_app(json_reader_t *r, app_entry_t *a, uint32_t config,
                     const json_t *o)
{
    apl_options_t *options = &a->app.options;

    r->where = NULL;
    if (!json_is_object(o)) {
        json_reader_refuse(r, "an app is no object");
        return;
    }
    a->app.name = json_reader_text(r, o, "name", 0);
    if (!*a->app.name || strlen(a->app.name) >= APL_NAME_MAX)
        json_reader_refuse(r, "an app's name has 1 to %d bytes",
                           APL_NAME_MAX - 1);
    r->where = a->app.name;
    a->app.key = apl_group_key(a->app.name);
    a->app.root = json_reader_path(r, o, "root", 0);
    read_settings(r, a, o);
    a->label = json_reader_text(r, o, "label", 0);
    a->user = json_reader_text(r, o, "user", 1);
    a->group = json_reader_text(r, o, "group", 1);
    a->user_name = json_object_get(o, "user_name")
                       ? json_reader_text(r, o, "user_name", 1)
                       : NULL;
    a->owner = read_user(r, o, "owner");
    a->uid = read_user(r, o, "uid");
    a->env = environment(r, o, "env");
    a->store_env = environment(r, o, "store_env");
    a->restart_dir = json_reader_path(r, o, "restart_dir", 0);
    a->directives = read_directives(r, o);
    read_ready(r, a, o);
    read_log(r, a, o);
    a->base_uri = json_reader_text(r, o, "base_uri", 0);
    read_preload(r, a, o);
    read_rlimits(r, a, o);
    options->config = config;
    options->concurrency = json_is_null(json_object_get(o, "concurrency"))
                               ? APL_CONCURRENCY_AUTO
                               : json_reader_count(r, o, "concurrency");
    options->unkillable_stop = json_reader_count(r, o, "unkillable_stop");
    a->print = fingerprint(a);
}

/* Each name occurs once, or the table is refused. */
static void index_app(json_reader_t *r, const app_table_t *t,
                      const app_entry_t *a)
{
    if (app_table_find(t, a->app.name))
        json_reader_refuse(r, "there are two of that name");
    apr_hash_set(t->by_name, a->app.name, APR_HASH_KEY_STRING, a);
}

/* ---- the documents ---- */

/* @return NULL: it cannot be read, and the reason is known */
static json_t *next(json_reader_t *r, FILE *file, uint32_t line)
{
    json_error_t trouble;
    json_t *o = json_loadf(
        file, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &trouble);

    if (json_is_object(o))
        return o;
    r->where = NULL;
    json_reader_refuse(r, "line %u: %s", line, o ? "no object" : trouble.text);
    json_decref(o);
    return NULL;
}

/* The document of the table itself. */
static void read_table(json_reader_t *r, app_table_t *t, const json_t *o)
{
    const char *instance;

    json_reader_number(r, o, "version", 2, 2);
    t->config = (uint32_t)json_reader_number(r, o, "config", 0, UINT32_MAX);
    t->max_pool_size =
        (uint32_t)json_reader_number(r, o, "max_pool_size", 1, INT32_MAX);
    t->httpd_uid =
        (uid_t)json_reader_number(r, o, "httpd_uid", 0, UINT32_MAX - 1);
    t->httpd_gid =
        (gid_t)json_reader_number(r, o, "httpd_gid", 0, UINT32_MAX - 1);
    t->capacity = capacity(r, json_object_get(o, "capacity"));
    t->error_log = json_reader_path(r, o, "error_log", 1);
    t->error_format = error_format(r, o);
    t->log_level = (int)json_reader_number(r, o, "log_level", 0, 15);
    instance = json_reader_text(r, o, "instance", 0);
    if (strlen(instance) != 16 || strspn(instance, "0123456789abcdef") != 16)
        json_reader_refuse(r, "\"instance\" is not 16 hex digits");
    else
        memcpy(t->instance, instance, 17);
    t->n = (uint32_t)json_reader_number(r, o, "apps", 0, APPS_MAX);
}

/* One document at a time, so that the memory for it is used again. Many of them
 * take some seconds. */
static void read_apps(json_reader_t *r, app_table_t *t, FILE *file)
{
    uint32_t i;
    json_t *o;
    int c;

    t->apps = apr_pcalloc(r->p, (t->n + 1) * sizeof *t->apps);
    for (i = 0; i < t->n && !r->wrong; i++) {
        heartbeat();
        o = next(r, file, i + 2);
        if (o)
            read_app(r, &t->apps[i], t->config, o);
        json_decref(o);
        if (!r->wrong)
            index_app(r, t, &t->apps[i]);
    }
    while ((c = getc(file)) == '\n')
        ;
    r->where = NULL;
    if (c != EOF && !r->wrong)
        json_reader_refuse(r, "there is something behind the last app");
}

static void read_documents(json_reader_t *r, app_table_t *t, FILE *file)
{
    json_t *o = next(r, file, 1);

    if (o)
        read_table(r, t, o);
    json_decref(o);
    if (!r->wrong)
        read_apps(r, t, file);
}

/* Its memory is its own, so all of that is given back at its end. */
static apr_pool_t *make_pool(apr_pool_t *parent)
{
    apr_allocator_t *allocator;
    apr_pool_t *pool;

    apr_allocator_create(&allocator);
    apr_pool_create_ex(&pool, parent, NULL, allocator);
    apr_allocator_owner_set(allocator, pool);
    return pool;
}

/* Of the newest table: LeakSanitizer reads no pools. */
static apr_allocator_t *newest;

static app_table_t *read_file(FILE *file, apr_pool_t *parent, char *error)
{
    json_reader_t r = {.p = make_pool(parent), .error = error};
    app_table_t *table = apr_pcalloc(r.p, sizeof *table);
    apr_pool_t *scratch = make_pool(parent);

    table->pool = r.p;
    table->by_name = apr_hash_make(r.p);
    r.kept = apr_hash_make(scratch);
    read_documents(&r, table, file);
    apr_pool_destroy(scratch);
    if (!r.wrong) {
        newest = apr_pool_allocator_get(table->pool);
        return table;
    }
    apr_pool_destroy(r.p);
    return NULL;
}

app_table_t *app_table_parse(const char *source, size_t length,
                             apr_pool_t *parent, char *error)
{
    FILE *file = fmemopen((void *)(uintptr_t)source, length, "r");
    app_table_t *table = read_file(file, parent, error);

    fclose(file);
    return table;
}

/* ---- the file ---- */

/* @return 1: it may be read; 0: the error says why not */
static int is_good(int fd, char *error)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        (st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022)) {
        snprintf(error, APP_TABLE_ERROR_MAX,
                 "it is no file that only root may write");
        return 0;
    }
    if (st.st_size > FILE_MAX) {
        snprintf(error, APP_TABLE_ERROR_MAX,
                 "it has %lld bytes, and at most %d are read, which is enough "
                 "for %d applications: their settings are too long",
                 (long long)st.st_size, FILE_MAX, APPS_MAX);
        return 0;
    }
    return 1;
}

app_table_t *app_table_load(int dirfd, const char *name, apr_pool_t *parent,
                            char *error)
{
    int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    app_table_t *table = NULL;

    if (!file)
        snprintf(error, APP_TABLE_ERROR_MAX, "it cannot be opened: %s",
                 strerror(errno));
    else if (is_good(fd, error))
        table = read_file(file, parent, error);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return table;
}

const app_entry_t *app_table_find(const app_table_t *table, const char *name)
{
    return table->by_name
               ? apr_hash_get(table->by_name, name, APR_HASH_KEY_STRING)
               : NULL;
}
