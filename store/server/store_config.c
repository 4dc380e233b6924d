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
#include "base/json_reader.h"
#include "base/store_figures.h"

#define SIZE_MIN    (INT64_C(1) << 20)
#define CONNECTIONS 1000000
#define OBJECT_MIN  1024
#define OBJECT_MAX  (INT64_C(30) << 20)
#define CHANGES_MIN (INT64_C(64) << 10)
#define CHANGES_MAX (INT64_C(4) << 30)
#define TIMEOUT_MAX 3600 /* s */

_Static_assert(STORE_CONFIG_ERROR == JSON_READER_ERROR_MAX,
               "it has the sentence");

/* ---- spaces ---- */

/* The socket has this name, so it must not lead to another directory or be the
 * name of a file that has another meaning. */
static void check_key(json_reader_t *r, const char *key)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (key[strspn(key, allowed)])
        json_reader_refuse(
            r, "\"key\" has other characters than letters, digits, - and _");
    if (strcmp(key, "table") == 0 || strcmp(key, "admin") == 0)
        json_reader_refuse(r, "\"key\" is the name of another file");
}

static void read_uids(json_reader_t *r, const json_t *o,
                      store_config_space_t *s)
{
    const json_t *list = json_object_get(o, "uids");
    size_t n = json_array_size(list), i;

    if (!json_is_array(list) || n > STORE_CONFIG_UIDS) {
        json_reader_refuse(r, "\"uids\" is no list of up to %d users",
                           STORE_CONFIG_UIDS);
        return;
    }
    s->uids = calloc(n ? n : 1, sizeof *s->uids);
    if (!s->uids) {
        json_reader_refuse(r, "there is no memory");
        return;
    }
    for (i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t uid = json_integer_value(v);

        if (!json_is_integer(v) || uid < 0 || uid >= UINT32_MAX)
            json_reader_refuse(r, "\"uids\" has something that is no user");
        s->uids[s->n_uids++] = (uid_t)uid;
    }
}

/* httpd of an older build does not know it. A store that is alone has no slave
 * that confirms. */
static store_space_confirm_t read_confirm(json_reader_t *r, const json_t *o)
{
    static const char *const words[] = {"off", "on", "refuse"};
    char word[16];
    unsigned i;

    if (!json_object_get(o, "confirm"))
        return STORE_CONFIRM_OFF;
    json_reader_copy(r, o, "confirm", word, sizeof word);
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return (store_space_confirm_t)i;
    json_reader_refuse(r, "\"confirm\" is not off, on or refuse");
    return STORE_CONFIRM_OFF;
}

static void read_space(json_reader_t *r, const json_t *o,
                       store_config_space_t *s)
{
    r->what = "space";
    r->where = json_string_value(json_object_get(o, "name"));
    json_reader_copy(r, o, "name", s->name, sizeof s->name);
    json_reader_copy(r, o, "key", s->key, sizeof s->key);
    check_key(r, s->key);
    s->size = (uint64_t)json_reader_number(r, o, "size", SIZE_MIN,
                                           (int64_t)STORE_EXTENT);
    s->evict = json_reader_boolean(r, o, "evict");
    s->confirm = read_confirm(r, o);
    s->max_connections =
        (uint32_t)json_reader_number(r, o, "max_connections", 1, CONNECTIONS);
    read_uids(r, o, s);
    r->where = NULL;
}

static void check_twins(json_reader_t *r, const store_config_t *t)
{
    unsigned i, j;

    for (i = 0; i < t->n_spaces; i++)
        for (j = 0; j < i; j++)
            if (strcmp(t->spaces[i].name, t->spaces[j].name) == 0 ||
                strcmp(t->spaces[i].key, t->spaces[j].key) == 0)
                json_reader_refuse(r,
                                   "two spaces have the name or the key of %s",
                                   t->spaces[i].name);
}

static void read_spaces(json_reader_t *r, const json_t *o, store_config_t *t)
{
    const json_t *list;
    size_t i, n = json_reader_list(r, o, "spaces", STORE_SPACES, &list);

    t->spaces = calloc(n ? n : 1, sizeof *t->spaces);
    if (!t->spaces) {
        json_reader_refuse(r, "there is no memory");
        return;
    }
    for (i = 0; i < n; i++)
        read_space(r, json_array_get(list, i), &t->spaces[t->n_spaces++]);
    check_twins(r, t);
}

/* ---- other hosts, and TCP clients ---- */

static void read_address(json_reader_t *r, const json_t *v, const char *key,
                         store_address_t *to)
{
    const char *text = json_string_value(v);

    if (!text || store_address_parse(text, to) != 0)
        json_reader_refuse(r, "\"%s\" has something that is no IP address",
                           key);
}

static unsigned read_addresses(json_reader_t *r, const json_t *o,
                               const char *key, store_address_t *to)
{
    const json_t *list;
    size_t i, n = json_reader_list(r, o, key, STORE_PEERS, &list);

    for (i = 0; i < n; i++)
        read_address(r, json_array_get(list, i), key, &to[i]);
    return (unsigned)n;
}

static void read_ports(json_reader_t *r, const json_t *o, store_cluster_t *c)
{
    uint16_t *to[] = {&c->port_memcache, &c->port_repl};
    const json_t *list;
    size_t i, n = json_reader_list(r, o, "ports", 3, &list);

    /* httpd of an older build names a third one, for counters. */
    for (i = 0; i < n && i < 2; i++) {
        json_int_t port = json_integer_value(json_array_get(list, i));

        if (port >= 1 && port <= UINT16_MAX)
            *to[i] = (uint16_t)port;
    }
    if (!c->port_memcache || !c->port_repl || c->port_memcache == c->port_repl)
        json_reader_refuse(r, "\"ports\" are not two different ports");
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static void read_secret(json_reader_t *r, const json_t *o, store_cluster_t *c)
{
    const json_t *v = json_object_get(o, "secret");
    const char *hex = json_string_value(v);
    size_t i, n = json_string_length(v);

    if (!v)
        return;
    if (!hex || n % 2 || n < 2 * STORE_SECRET_MIN || n > 2 * STORE_SECRET_MAX ||
        strspn(hex, "0123456789abcdef") != n) {
        json_reader_refuse(
            r, "\"secret\" is no hexadecimal number of %d to %d bytes",
            STORE_SECRET_MIN, STORE_SECRET_MAX);
        return;
    }
    c->n_secret = (unsigned)(n / 2);
    for (i = 0; i < c->n_secret; i++)
        c->secret[i] = (unsigned char)(hex_digit(hex[2 * i]) << 4 |
                                       hex_digit(hex[2 * i + 1]));
}

static int is_space(const json_t *document, const char *name)
{
    const json_t *list = json_object_get(document, "spaces");
    size_t i;

    for (i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *other = json_string_value(json_object_get(o, "name"));

        if (other && strcmp(other, name) == 0)
            return 1;
    }
    return 0;
}

static void read_name(json_reader_t *r, const json_t *o, const char *key,
                      const json_t *document, char to[STORE_NAME])
{
    json_reader_copy(r, o, key, to, STORE_NAME);
    if (!is_space(document, to))
        json_reader_refuse(r, "\"%s\" is no space of the table", key);
}

/* Nothing proves that what connects from the address of such a peer is a
 * store. */
static int has_unknown_peer(const store_cluster_t *c)
{
    unsigned i;

    for (i = 0; i < c->n_peers; i++)
        if (!store_address_is_in(c->plain, c->n_plain, &c->peer[i]))
            return c->n_secret == 0;
    return 0;
}

static void read_cluster(json_reader_t *r, const json_t *o,
                         const json_t *document, store_cluster_t *c)
{
    if (!json_is_object(o)) {
        json_reader_refuse(r, "\"cluster\" is no object");
        return;
    }
    read_ports(r, o, c);
    c->n_peers = read_addresses(r, o, "peers", c->peer);
    c->n_plain = read_addresses(r, o, "plain", c->plain);
    read_secret(r, o, c);
    if (json_object_get(o, "open_space"))
        read_name(r, o, "open_space", document, c->open_space);
    c->changes =
        (uint64_t)json_reader_number(r, o, "changes", CHANGES_MIN, CHANGES_MAX);
    c->slave_timeout =
        (unsigned)json_reader_number(r, o, "slave_timeout", 1, TIMEOUT_MAX);
    if (!json_object_get(o, "vip"))
        return;
    read_address(r, json_object_get(o, "vip"), "vip", &c->vip);
    if (c->n_peers == 0)
        json_reader_refuse(r, "there is a \"vip\", but \"peers\" is empty");
    if (has_unknown_peer(c))
        json_reader_refuse(r, "there is a \"vip\" and no \"secret\", so "
                              "all \"peers\" have to be in \"plain\"");
}

static int is_loopback(const store_address_t *a)
{
    return a->family == AF_INET ? *(const unsigned char *)&a->u.v4 == 127
                                : IN6_IS_ADDR_LOOPBACK(&a->u.v6);
}

static void check_listen(json_reader_t *r, const store_cluster_t *c,
                         const store_config_listen_t *first,
                         const store_config_listen_t *l)
{
    if (c->n_secret == 0 && !is_loopback(&l->address))
        json_reader_refuse(r, "the address is not of this host only, "
                              "and there is no \"secret\"");
    for (; first < l; first++)
        if (first->port == l->port &&
            store_address_equal(&first->address, &l->address))
            json_reader_refuse(r, "the same address and port are there twice");
}

static unsigned read_listens(json_reader_t *r, const json_t *document,
                             const store_cluster_t *c,
                             store_config_listen_t *to)
{
    const json_t *list;
    size_t i, n = 0;

    if (json_object_get(document, "listens"))
        n = json_reader_list(r, document, "listens", STORE_CONFIG_LISTENS,
                             &list);
    r->what = "listener for";
    for (i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);

        r->where = json_string_value(json_object_get(o, "space"));
        read_address(r, json_object_get(o, "address"), "address",
                     &to[i].address);
        to[i].port = (uint16_t)json_reader_number(r, o, "port", 1, UINT16_MAX);
        read_name(r, o, "space", document, to[i].space);
        check_listen(r, c, to, &to[i]);
    }
    r->where = NULL;
    return (unsigned)n;
}

/* ---- the document ---- */

static void read_all(json_reader_t *r, const json_t *o, store_config_t *t)
{
    if (!json_is_object(o)) {
        json_reader_refuse(r, "the document is no JSON object");
        return;
    }
    t->threads =
        (unsigned)json_reader_number(r, o, "threads", 1, STORE_THREADS);
    t->max_object = (uint32_t)json_reader_number(r, o, "max_object", OBJECT_MIN,
                                                 OBJECT_MAX);
    t->save_time = CONTRACT_STORE_SAVE_DEFAULT;
    if (json_object_get(o, "save_time"))
        t->save_time = (uint32_t)json_reader_number(r, o, "save_time", 1,
                                                    CONTRACT_STORE_SAVE_MAX);
    if (json_object_get(o, "save_every"))
        t->save_every = (uint32_t)json_reader_number(r, o, "save_every", 0,
                                                     CONTRACT_STORE_EVERY_MAX);
    read_spaces(r, o, t);
    if (json_object_get(o, "cluster"))
        read_cluster(r, json_object_get(o, "cluster"), o, &t->cluster);
    t->n_listens = read_listens(r, o, &t->cluster, t->listen);
}

store_config_t *store_config_parse(const char *document, size_t n,
                                   char error[STORE_CONFIG_ERROR])
{
    json_reader_t r = {.error = error};
    json_error_t where;
    json_t *o = json_loadb(document, n, JSON_REJECT_DUPLICATES, &where);
    store_config_t *t = calloc(1, sizeof *t);

    if (!t)
        json_reader_refuse(&r, "there is no memory");
    else if (!o)
        json_reader_refuse(&r, "line %d: %.150s", where.line, where.text);
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
