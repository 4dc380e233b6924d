/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/untrusted_headers.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "mod_apppool/backend/field_name.h"

APLOG_USE_MODULE(apppool);

/* In the request's pool: a table of the headers that were removed. */
#define TAKEN "apppool-taken"

/* Clients and proxies may not send these. Some frameworks read the path from
 * the last two. */
static const char *const ours[] = {
    "X-Forwarded-For", "X-Forwarded-Prefix", "X-Script-Name",  "Script-Name",
    "X-Sendfile-Type", "X-Accel-Mapping",    "X-Original-URL", "X-Rewrite-URL",
};

/* A trusted proxy may send these, and all that begin with FAMILY. */
static const char *const proxys[] = {
    "Forwarded",       "X-Real-IP",           "X-Client-IP",   "Client-IP",
    "True-Client-IP",  "X-Cluster-Client-IP", "X-Scheme",      "X-Url-Scheme",
    "Front-End-Https", "X-Request-Start",     "X-Queue-Start",
};

#define FAMILY        "X-Forwarded-"

#define LENGTH(names) (sizeof names / sizeof *names)

static int is_odd(const char *name)
{
    const char *c;

    for (c = name; apr_isalnum(*c) || *c == '-'; c++)
        ;
    return *c != 0;
}

/* Has mod_remoteip taken the client's address from a header? */
static int is_peer_trusted(const request_rec *r)
{
    const conn_rec *c =
        r->connection->master ? r->connection->master : r->connection;
    module *remoteip;

    if (r->useragent_addr == r->connection->client_addr)
        return 0;
    remoteip = ap_find_linked_module("mod_remoteip.c");
    /* It has settings of a connection only for the PROXY protocol. */
    return remoteip && !ap_get_module_config(c->conn_config, remoteip);
}

typedef struct {
    apr_table_t *taken;
    int trusted; /* the peer is */
} search_t;

static int note_if_false(void *search_, const char *name, const char *value)
{
    const search_t *search = search_;

    if (is_odd(name) || apppool_field_name_is_among(name, ours, LENGTH(ours)) ||
        (!search->trusted &&
         (!ap_cstr_casecmpn(name, FAMILY, strlen(FAMILY)) ||
          apppool_field_name_is_among(name, proxys, LENGTH(proxys)))))
        apr_table_addn(search->taken, name, value);
    return 1;
}

/* mod_proxy removes the headers that Connection names, also those that we or
 * RequestHeader have set. */
static void fit_connection(request_rec *r, apr_table_t *taken)
{
    static const char *const known[] = {"close", "keep-alive", "upgrade", "te",
                                        "http2-settings"};
    const char *connection = apr_table_get(r->headers_in, "Connection");
    char *word, *state = NULL;

    if (!connection)
        return;
    apr_table_addn(taken, "Connection", connection);
    connection = apr_pstrdup(r->pool, connection);
    apr_table_unset(r->headers_in, "Connection");
    for (word = apr_strtok((char *)connection, ",; \t", &state); word;
         word = apr_strtok(NULL, ",; \t", &state))
        if (apppool_field_name_is_among(word, known, LENGTH(known)))
            apr_table_mergen(r->headers_in, "Connection", word);
}

static int take(void *r_, const char *name, const char *value)
{
    request_rec *r = r_;

    (void)value;
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r,
                  "apppool: %s is not taken from %s", name,
                  r->connection->client_ip);
    apr_table_unset(r->headers_in, name);
    return 1;
}

void apppool_untrusted_headers_remove(request_rec *r)
{
    search_t search = {apr_table_make(r->pool, 4), is_peer_trusted(r)};

    apr_table_do(note_if_false, &search, r->headers_in, NULL);
    apr_table_do(take, r, search.taken, NULL);
    fit_connection(r, search.taken);
    if (!apr_is_empty_table(search.taken))
        apr_pool_userdata_setn(search.taken, TAKEN, NULL, r->pool);
}

/* Connection is there in any case: fit_connection() has set it. */
static int give_back(void *headers, const char *name, const char *value)
{
    if (!ap_cstr_casecmp(name, "Connection"))
        apr_table_setn(headers, name, value);
    else if (!apr_table_get(headers, name))
        apr_table_addn(headers, name, value);
    return 1;
}

void apppool_untrusted_headers_restore(request_rec *r)
{
    void *taken = NULL;

    apr_pool_userdata_get(&taken, TAKEN, r->pool);
    if (taken)
        apr_table_do(give_back, r->headers_in, taken, NULL);
}
