/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/store_table_cluster.h"

#include <http_log.h>
#include <http_main.h>
#include <string.h>

#include "mod_apppool/config/store_cluster.h"
#include "mod_apppool/config/store_key.h"

APLOG_USE_MODULE(apppool);

static json_t *number(apr_int64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *list_of(const apr_array_header_t *addresses)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < addresses->nelts; i++)
        json_array_append_new(
            list, json_string(APR_ARRAY_IDX(addresses, i, const char *)));
    return list;
}

static json_t *listens_of(const apppool_store_cluster_t *c)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < c->listens->nelts; i++) {
        const apppool_store_listen_t *l =
            &APR_ARRAY_IDX(c->listens, i, apppool_store_listen_t);
        json_t *j = json_object();

        json_object_set_new(j, "address", json_string(l->address));
        json_object_set_new(j, "port", number(l->port));
        json_object_set_new(j, "space", json_string(l->space));
        json_array_append_new(list, j);
    }
    return list;
}

/* In hexadecimal digits, since it may have any bytes. @return -1: that was
 * logged */
static int add_secret(json_t *cluster, const apppool_server_t *server,
                      apr_pool_t *p)
{
    static const char digit[] = "0123456789abcdef";
    unsigned char secret[APPPOOL_STORE_SECRET_MAX];
    char hex[2 * APPPOOL_STORE_SECRET_MAX + 1];
    const char *why = NULL;
    int i, n = apppool_store_key_read(server, secret, p, &why);

    for (i = 0; i < n; i++) {
        hex[2 * i] = digit[secret[i] >> 4];
        hex[2 * i + 1] = digit[secret[i] & 15];
    }
    if (n > 0) {
        hex[2 * n] = 0;
        json_object_set_new(cluster, "secret", json_string(hex));
    }
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(hex, sizeof hex);
    if (n < 0)
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, ap_server_conf,
                     "apppool: AppStoreKey %s: %s", server->store_key, why);
    return n < 0 ? -1 : 0;
}

int apppool_store_table_cluster(json_t *table, const apppool_server_t *server,
                                apr_pool_t *p)
{
    const apppool_store_cluster_t *c = apppool_store_cluster_of(p, server);
    json_t *j = json_object(), *ports = json_array();
    int i;

    for (i = 0; i < 2; i++)
        json_array_append_new(ports, number(c->port[i]));
    json_object_set_new(j, "ports", ports);
    if (c->vip)
        json_object_set_new(j, "vip", json_string(c->vip));
    json_object_set_new(j, "peers", list_of(c->peers));
    json_object_set_new(j, "plain", list_of(c->plain));
    if (server->store_open_space)
        json_object_set_new(j, "open_space",
                            json_string(server->store_open_space));
    json_object_set_new(j, "changes", number(server->store_changes));
    json_object_set_new(
        j, "slave_timeout",
        number((server->store_slave_timeout + APR_USEC_PER_SEC - 1) /
               APR_USEC_PER_SEC));
    json_object_set_new(table, "cluster", j);
    json_object_set_new(table, "listens", listens_of(c));
    return add_secret(j, server, p);
}

void apppool_store_table_cluster_forget(json_t *table)
{
    json_t *secret =
        json_object_get(json_object_get(table, "cluster"), "secret");

    if (secret)
        explicit_bzero((char *)json_string_value(secret),
                       json_string_length(secret));
}
