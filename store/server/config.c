/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/config.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/figures.h"

#define SIZE_MIN    (INT64_C(1) << 20)
#define CONNECTIONS 1000000

/* State of the reader: the first mistake is kept. */
typedef struct {
    char *error;
    int wrong;
    const char *where; /* name of the space; NULL: none */
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
        n = snprintf(r->error, STORE_CONFIG_ERROR, "space %.80s: ", r->where);
    va_start(args, format);
    vsnprintf(r->error + n, STORE_CONFIG_ERROR - (size_t)n, format, args);
    va_end(args);
}

static int64_t number(reader_t *r, const json_t *o, const char *key,
                      int64_t min, int64_t max)
{
    const json_t *v = json_object_get(o, key);
    json_int_t n = json_integer_value(v);

    if (json_is_integer(v) && n >= min && n <= max)
        return n;
    refuse(r, "\"%s\" is no number from %lld to %lld", key, (long long)min,
           (long long)max);
    return min;
}

static int boolean(reader_t *r, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_boolean(v))
        refuse(r, "\"%s\" is neither true nor false", key);
    return json_is_true(v);
}

static int has_control(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return 1;
    return 0;
}

/* A text without control characters, which is not empty. */
static void text(reader_t *r, const json_t *o, const char *key, char *to,
                 size_t size)
{
    const char *s = json_string_value(json_object_get(o, key));

    if (!s || !*s || has_control(s) || strlen(s) >= size) {
        refuse(r, "\"%s\" is no text of 1 to %zu characters", key, size - 1);
        s = "";
    }
    snprintf(to, size, "%s", s);
}

/* The socket has this name, so it must not lead to another directory or be the
 * name of a file that has another meaning. */
static void check_key(reader_t *r, const char *key)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (key[strspn(key, allowed)])
        refuse(r, "\"key\" has other characters than letters, digits, - and _");
    if (strcmp(key, "table") == 0 || strcmp(key, "admin") == 0)
        refuse(r, "\"key\" is the name of another file");
}

static void read_uids(reader_t *r, const json_t *o, store_config_space_t *s)
{
    const json_t *list = json_object_get(o, "uids");
    size_t n = json_array_size(list), i;

    if (!json_is_array(list) || n > STORE_CONFIG_UIDS) {
        refuse(r, "\"uids\" is no list of up to %d users", STORE_CONFIG_UIDS);
        return;
    }
    s->uids = calloc(n ? n : 1, sizeof *s->uids);
    if (!s->uids) {
        refuse(r, "there is no memory");
        return;
    }
    for (i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t uid = json_integer_value(v);

        if (!json_is_integer(v) || uid < 0 || uid >= UINT32_MAX)
            refuse(r, "\"uids\" has something that is no user");
        s->uids[s->n_uids++] = (uid_t)uid;
    }
}

static void read_space(reader_t *r, const json_t *o, store_config_space_t *s)
{
    r->where = json_string_value(json_object_get(o, "name"));
    text(r, o, "name", s->name, sizeof s->name);
    text(r, o, "key", s->key, sizeof s->key);
    check_key(r, s->key);
    s->size = (uint64_t)number(r, o, "size", SIZE_MIN, (int64_t)STORE_EXTENT);
    s->evict = boolean(r, o, "evict");
    s->max_connections =
        (uint32_t)number(r, o, "max_connections", 1, CONNECTIONS);
    read_uids(r, o, s);
    r->where = NULL;
}

static void check_twins(reader_t *r, const store_config_t *t)
{
    unsigned i, j;

    for (i = 0; i < t->n_spaces; i++)
        for (j = 0; j < i; j++)
            if (strcmp(t->spaces[i].name, t->spaces[j].name) == 0 ||
                strcmp(t->spaces[i].key, t->spaces[j].key) == 0)
                refuse(r, "two spaces have the name or the key of %s",
                       t->spaces[i].name);
}

static void read_spaces(reader_t *r, const json_t *o, store_config_t *t)
{
    const json_t *list = json_object_get(o, "spaces");
    size_t n = json_array_size(list), i;

    if (!json_is_array(list) || n > STORE_SPACES) {
        refuse(r, "\"spaces\" is no list of up to %d", STORE_SPACES);
        return;
    }
    t->spaces = calloc(n ? n : 1, sizeof *t->spaces);
    if (!t->spaces) {
        refuse(r, "there is no memory");
        return;
    }
    for (i = 0; i < n; i++)
        read_space(r, json_array_get(list, i), &t->spaces[t->n_spaces++]);
    check_twins(r, t);
}

static void read_all(reader_t *r, const json_t *o, store_config_t *t)
{
    if (!json_is_object(o)) {
        refuse(r, "the document is no JSON object");
        return;
    }
    t->threads = (unsigned)number(r, o, "threads", 1, STORE_THREADS);
    t->max_object =
        (uint32_t)number(r, o, "max_object", 1024, INT64_C(30) << 20);
    read_spaces(r, o, t);
}

store_config_t *store_config_parse(const char *document, size_t n,
                                   char error[STORE_CONFIG_ERROR])
{
    reader_t r = {.error = error};
    json_error_t where;
    json_t *o = json_loadb(document, n, JSON_REJECT_DUPLICATES, &where);
    store_config_t *t = calloc(1, sizeof *t);

    if (!t)
        refuse(&r, "there is no memory");
    else if (!o)
        refuse(&r, "line %d: %.150s", where.line, where.text);
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
        t = store_config_parse(document, (size_t)n, error);
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
