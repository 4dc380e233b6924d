/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/store_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/store_figures.h"
#include "store/server/config_value.h"

#define SIZE_MIN    (INT64_C(1) << 20)
#define CONNECTIONS 1000000
#define OBJECT_MIN  1024
#define OBJECT_MAX  (INT64_C(30) << 20)

/* The socket has this name, so it must not lead to another directory or be the
 * name of a file that has another meaning. */
static void check_key(store_config_value_t *r, const char *key)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (key[strspn(key, allowed)])
        store_config_value_refuse(
            r, "\"key\" has other characters than letters, digits, - and _");
    if (strcmp(key, "table") == 0 || strcmp(key, "admin") == 0)
        store_config_value_refuse(r, "\"key\" is the name of another file");
}

static void read_uids(store_config_value_t *r, const json_t *o,
                      store_config_space_t *s)
{
    const json_t *list = json_object_get(o, "uids");
    size_t n = json_array_size(list), i;

    if (!json_is_array(list) || n > STORE_CONFIG_UIDS) {
        store_config_value_refuse(r, "\"uids\" is no list of up to %d users",
                                  STORE_CONFIG_UIDS);
        return;
    }
    s->uids = calloc(n ? n : 1, sizeof *s->uids);
    if (!s->uids) {
        store_config_value_refuse(r, "there is no memory");
        return;
    }
    for (i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t uid = json_integer_value(v);

        if (!json_is_integer(v) || uid < 0 || uid >= UINT32_MAX)
            store_config_value_refuse(r,
                                      "\"uids\" has something that is no user");
        s->uids[s->n_uids++] = (uid_t)uid;
    }
}

/* httpd of an older build does not know it. A store that is alone has nobody who
 * confirms. */
static store_space_confirm_t read_confirm(store_config_value_t *r,
                                          const json_t *o)
{
    static const char *const words[] = {"off", "on", "refuse"};
    char word[16];
    unsigned i;

    if (!json_object_get(o, "confirm"))
        return STORE_CONFIRM_OFF;
    store_config_value_text(r, o, "confirm", word, sizeof word);
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return (store_space_confirm_t)i;
    store_config_value_refuse(r, "\"confirm\" is not off, on or refuse");
    return STORE_CONFIRM_OFF;
}

static void read_space(store_config_value_t *r, const json_t *o,
                       store_config_space_t *s)
{
    r->what = "space";
    r->where = json_string_value(json_object_get(o, "name"));
    store_config_value_text(r, o, "name", s->name, sizeof s->name);
    store_config_value_text(r, o, "key", s->key, sizeof s->key);
    check_key(r, s->key);
    s->size = (uint64_t)store_config_value_number(r, o, "size", SIZE_MIN,
                                                  (int64_t)STORE_EXTENT);
    s->evict = store_config_value_boolean(r, o, "evict");
    s->confirm = read_confirm(r, o);
    s->max_connections = (uint32_t)store_config_value_number(
        r, o, "max_connections", 1, CONNECTIONS);
    read_uids(r, o, s);
    r->where = NULL;
}

static void check_twins(store_config_value_t *r, const store_config_t *t)
{
    unsigned i, j;

    for (i = 0; i < t->n_spaces; i++)
        for (j = 0; j < i; j++)
            if (strcmp(t->spaces[i].name, t->spaces[j].name) == 0 ||
                strcmp(t->spaces[i].key, t->spaces[j].key) == 0)
                store_config_value_refuse(
                    r, "two spaces have the name or the key of %s",
                    t->spaces[i].name);
}

static void read_spaces(store_config_value_t *r, const json_t *o,
                        store_config_t *t)
{
    const json_t *list = json_object_get(o, "spaces");
    size_t n = json_array_size(list), i;

    if (!json_is_array(list) || n > STORE_SPACES) {
        store_config_value_refuse(r, "\"spaces\" is no list of up to %d",
                                  STORE_SPACES);
        return;
    }
    t->spaces = calloc(n ? n : 1, sizeof *t->spaces);
    if (!t->spaces) {
        store_config_value_refuse(r, "there is no memory");
        return;
    }
    for (i = 0; i < n; i++)
        read_space(r, json_array_get(list, i), &t->spaces[t->n_spaces++]);
    check_twins(r, t);
}

static void read_all(store_config_value_t *r, const json_t *o,
                     store_config_t *t)
{
    if (!json_is_object(o)) {
        store_config_value_refuse(r, "the document is no JSON object");
        return;
    }
    t->threads =
        (unsigned)store_config_value_number(r, o, "threads", 1, STORE_THREADS);
    t->max_object = (uint32_t)store_config_value_number(r, o, "max_object",
                                                        OBJECT_MIN, OBJECT_MAX);
    t->save_time = CONTRACT_STORE_SAVE_DEFAULT;
    if (json_object_get(o, "save_time"))
        t->save_time = (uint32_t)store_config_value_number(
            r, o, "save_time", 1, CONTRACT_STORE_SAVE_MAX);
    if (json_object_get(o, "save_every"))
        t->save_every = (uint32_t)store_config_value_number(
            r, o, "save_every", 0, CONTRACT_STORE_EVERY_MAX);
    read_spaces(r, o, t);
    store_config_cluster_read(r, o, &t->cluster);
    t->n_listens = store_config_cluster_listens(r, o, &t->cluster, t->listen);
}

store_config_t *store_config_parse(const char *document, size_t n,
                                   char error[STORE_CONFIG_ERROR])
{
    store_config_value_t r = {.error = error, .size = STORE_CONFIG_ERROR};
    json_error_t where;
    json_t *o = json_loadb(document, n, JSON_REJECT_DUPLICATES, &where);
    store_config_t *t = calloc(1, sizeof *t);

    if (!t)
        store_config_value_refuse(&r, "there is no memory");
    else if (!o)
        store_config_value_refuse(&r, "line %d: %.150s", where.line,
                                  where.text);
    else
        read_all(&r, o, t);
    json_decref(o);
    if (!r.wrong)
        return t;
    store_config_free(t);
    return NULL;
}

/* @return bytes; -1: errno */
static ssize_t read_whole(int fd, char *to, size_t size)
{
    size_t n = 0;
    ssize_t got;

    do {
        got = read(fd, to + n, size - n);
        if (got > 0)
            n += (size_t)got;
    } while ((got > 0 && n < size) || (got < 0 && errno == EINTR));
    return got < 0 ? -1 : (ssize_t)n;
}

/* What others can read is no secret. */
static store_config_t *parse_private(const char *document, size_t n,
                                     const struct stat *st, char *error)
{
    store_config_t *t = store_config_parse(document, n, error);

    if (!t || t->cluster.n_secret == 0 ||
        (st->st_mode & (S_IRWXG | S_IRWXO)) == 0)
        return t;
    snprintf(error, STORE_CONFIG_ERROR,
             "it has a secret and mode %o, so others than its owner can use it",
             (unsigned)(st->st_mode & 0777));
    store_config_free(t);
    return NULL;
}

store_config_t *store_config_read(int dirfd, const char *name,
                                  char error[STORE_CONFIG_ERROR])
{
    store_config_t *t = NULL;
    struct stat st;
    char *document = NULL;
    ssize_t n = -1;
    int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0) {
        errno = EFBIG;
        if (S_ISREG(st.st_mode) && st.st_size <= STORE_CONFIG_MAX)
            document = malloc((size_t)st.st_size + 1);
        if (document)
            n = read_whole(fd, document, (size_t)st.st_size);
    }
    if (n >= 0)
        t = parse_private(document, (size_t)n, &st, error);
    else
        snprintf(error, STORE_CONFIG_ERROR, "%s", strerror(errno));
    free(document);
    if (fd >= 0)
        close(fd);
    return t;
}

void store_config_free(store_config_t *t)
{
    unsigned i;

    if (!t)
        return;
    for (i = 0; i < t->n_spaces; i++)
        free(t->spaces[i].uids);
    free(t->spaces);
    free(t);
}

int store_config_admits(const store_config_space_t *s, uid_t uid)
{
    uint32_t i;

    if (uid == 0)
        return 1;
    for (i = 0; i < s->n_uids; i++)
        if (s->uids[i] == uid)
            return 1;
    return 0;
}
