/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/config_cluster.h"

#include <string.h>

#include "store/server/config_value.h"

#define CHANGES_MIN (INT64_C(64) << 10)
#define CHANGES_MAX (INT64_C(4) << 30)
#define TIMEOUT_MAX 3600 /* s */

static void read_address(store_config_value_t *r, const json_t *v,
                         const char *key, store_address_t *to)
{
    const char *text = json_string_value(v);

    if (!text || store_address_parse(text, to) != 0)
        store_config_value_refuse(
            r, "\"%s\" has something that is no IP address", key);
}

static unsigned read_addresses(store_config_value_t *r, const json_t *o,
                               const char *key, store_address_t *to)
{
    const json_t *list;
    size_t i, n = store_config_value_list(r, o, key, STORE_PEERS, &list);

    for (i = 0; i < n; i++)
        read_address(r, json_array_get(list, i), key, &to[i]);
    return (unsigned)n;
}

static void read_ports(store_config_value_t *r, const json_t *o,
                       store_cluster_t *c)
{
    uint16_t *to[] = {&c->port_memcache, &c->port_repl};
    const json_t *list;
    size_t i, n = store_config_value_list(r, o, "ports", 3, &list);

    /* httpd of an older build names a third one, for counters. */
    for (i = 0; i < n && i < 2; i++) {
        json_int_t port = json_integer_value(json_array_get(list, i));

        if (port >= 1 && port <= UINT16_MAX)
            *to[i] = (uint16_t)port;
    }
    if (!c->port_memcache || !c->port_repl || c->port_memcache == c->port_repl)
        store_config_value_refuse(r, "\"ports\" are not two different ports");
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static void read_secret(store_config_value_t *r, const json_t *o,
                        store_cluster_t *c)
{
    const json_t *v = json_object_get(o, "secret");
    const char *hex = json_string_value(v);
    size_t i, n = json_string_length(v);

    if (!v)
        return;
    if (!hex || n % 2 || n < 2 * STORE_SECRET_MIN || n > 2 * STORE_SECRET_MAX ||
        strspn(hex, "0123456789abcdef") != n) {
        store_config_value_refuse(
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

static void read_name(store_config_value_t *r, const json_t *o, const char *key,
                      const json_t *document, char to[STORE_NAME])
{
    store_config_value_text(r, o, key, to, STORE_NAME);
    if (!is_space(document, to))
        store_config_value_refuse(r, "\"%s\" is no space of the table", key);
}

/* Nothing proves who connects from the address of such a peer. */
static int has_unknown_peer(const store_cluster_t *c)
{
    unsigned i;

    for (i = 0; i < c->n_peers; i++)
        if (!store_address_is_in(c->plain, c->n_plain, &c->peer[i]))
            return c->n_secret == 0;
    return 0;
}

static void read_cluster(store_config_value_t *r, const json_t *o,
                         const json_t *document, store_cluster_t *c)
{
    if (!json_is_object(o)) {
        store_config_value_refuse(r, "\"cluster\" is no object");
        return;
    }
    read_ports(r, o, c);
    c->n_peers = read_addresses(r, o, "peers", c->peer);
    c->n_plain = read_addresses(r, o, "plain", c->plain);
    read_secret(r, o, c);
    if (json_object_get(o, "open_space"))
        read_name(r, o, "open_space", document, c->open_space);
    c->changes = (uint64_t)store_config_value_number(r, o, "changes",
                                                     CHANGES_MIN, CHANGES_MAX);
    c->slave_timeout = (unsigned)store_config_value_number(
        r, o, "slave_timeout", 1, TIMEOUT_MAX);
    if (!json_object_get(o, "vip"))
        return;
    read_address(r, json_object_get(o, "vip"), "vip", &c->vip);
    if (c->n_peers == 0)
        store_config_value_refuse(r,
                                  "there is a \"vip\", but \"peers\" is empty");
    if (has_unknown_peer(c))
        store_config_value_refuse(r, "there is a \"vip\" and no \"secret\", so "
                                     "all \"peers\" have to be in \"plain\"");
}

void store_config_cluster_read(store_config_value_t *r, const json_t *document,
                               store_cluster_t *to)
{
    const json_t *cluster = json_object_get(document, "cluster");

    if (cluster)
        read_cluster(r, cluster, document, to);
}

static int is_loopback(const store_address_t *a)
{
    return a->family == AF_INET ? *(const unsigned char *)&a->u.v4 == 127
                                : IN6_IS_ADDR_LOOPBACK(&a->u.v6);
}

static void check_listen(store_config_value_t *r, const store_cluster_t *c,
                         const store_config_listen_t *first,
                         const store_config_listen_t *l)
{
    if (c->n_secret == 0 && !is_loopback(&l->address))
        store_config_value_refuse(r, "the address is not of this host only, "
                                     "and there is no \"secret\"");
    for (; first < l; first++)
        if (first->port == l->port &&
            store_address_equal(&first->address, &l->address))
            store_config_value_refuse(
                r, "the same address and port are there twice");
}

unsigned store_config_cluster_listens(store_config_value_t *r,
                                      const json_t *document,
                                      const store_cluster_t *c,
                                      store_config_listen_t *to)
{
    const json_t *list;
    size_t i, n = 0;

    if (json_object_get(document, "listens"))
        n = store_config_value_list(r, document, "listens",
                                    STORE_CONFIG_LISTENS, &list);
    r->what = "listener for";
    for (i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);

        r->where = json_string_value(json_object_get(o, "space"));
        read_address(r, json_object_get(o, "address"), "address",
                     &to[i].address);
        to[i].port =
            (uint16_t)store_config_value_number(r, o, "port", 1, UINT16_MAX);
        read_name(r, o, "space", document, to[i].space);
        check_listen(r, c, to, &to[i]);
    }
    r->where = NULL;
    return (unsigned)n;
}
