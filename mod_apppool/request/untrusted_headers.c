/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/untrusted_headers.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <stdlib.h>

#include "mod_apppool/backend/field_name.h"
#include "mod_apppool/config/config.h"

APLOG_USE_MODULE(apppool);

/* In the request's pool: a table of the headers that were removed. */
#define TAKEN "apppool-taken"

/* Clients and proxies may not send these. Some frameworks read the path from
 * X-Original-URL and X-Rewrite-URL. */
static const char *const ours[] = {
    "X-Forwarded-For", "X-Forwarded-Prefix", "X-Script-Name",
    "Script-Name",     "X-Sendfile-Type",    "X-Accel-Mapping",
    "X-Original-URL",  "X-Rewrite-URL",      "Proxy",
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

/* What Connection may say. */
static const char *const words[] = {"close", "keep-alive", "upgrade", "te",
                                    "http2-settings"};

/* ---- what the client has sent ---- */

/* Values as httpd has stored them: const char *, in the order of their
 * addresses. */
typedef apr_array_header_t strings_t;

static strings_t nothing;
static apr_size_t place; /* of the strings, in httpd's notes of a request */

typedef struct {
    request_rec *r;
    int trusted;      /* the peer is */
    int longer;       /* also what was appended to */
    strings_t *found; /* the client's; NULL: none */
    apr_table_t *taken;
} search_t;

void apppool_untrusted_headers_register(void)
{
    place = ap_register_request_note();
}

/* The request that httpd has read, before internal redirects and
 * subrequests. */
static request_rec *first_of(request_rec *r)
{
    while (r->main || r->prev)
        r = r->main ? r->main : r->prev;
    return r;
}

static int is_untrusted(const search_t *search, const char *name)
{
    return is_odd(name) ||
           apppool_field_name_is_among(name, ours, LENGTH(ours)) ||
           (!search->trusted &&
            (!ap_cstr_casecmpn(name, FAMILY, strlen(FAMILY)) ||
             apppool_field_name_is_among(name, proxys, LENGTH(proxys))));
}

/* Most clients send one word. All other values are made again: a name in there
 * could be that of a header that is ours, and mod_proxy needs memory for each
 * word. */
static int is_connection(const char *name, const char *value)
{
    return !ap_cstr_casecmp(name, "Connection") &&
           !apppool_field_name_is_among(value, words, LENGTH(words));
}

static int note_one(void *search_, const char *name, const char *value)
{
    search_t *search = search_;

    if (!is_untrusted(search, name) && !is_connection(name, value))
        return 1;
    if (!search->found)
        search->found = apr_array_make(search->r->pool, 4, sizeof(char *));
    APR_ARRAY_PUSH(search->found, const char *) = value;
    return 1;
}

static int compare(const void *a, const void *b)
{
    const char *const *one = a, *const *other = b;

    return *one < *other ? -1 : *one > *other;
}

static strings_t *find(search_t *search, const apr_table_t *headers)
{
    search->found = NULL;
    apr_table_do(note_one, search, headers, NULL);
    if (!search->found)
        return &nothing;
    qsort(search->found->elts, (size_t)search->found->nelts, sizeof(char *),
          compare);
    return search->found;
}

static strings_t *strings_of(request_rec *r)
{
    request_rec *first = first_of(r);
    void **strings = ap_get_request_note(first, place);

    if (!*strings) {
        search_t search = {first, is_peer_trusted(first), 0, NULL, NULL};

        *strings = find(&search, r->headers_in);
    }
    return *strings;
}

/* httpd calls it for the target of an internal redirect, too. A request with an
 * error that httpd saw before its hooks gets here only in this way, on its way
 * to the ErrorDocument. */
int apppool_untrusted_headers_note(request_rec *r)
{
    if (apppool_config_has_mount(r->server))
        strings_of(r);
    return DECLINED;
}

/* ---- removing ---- */

/* Was it made by an addition to what the client has sent? */
static int is_longer(const strings_t *all, const char *value)
{
    int i;

    for (i = 0; i < all->nelts; i++) {
        const char *sent = APR_ARRAY_IDX(all, i, const char *);
        size_t n = strlen(sent);

        if (!strncmp(value, sent, n) && value[n] == ',')
            return 1;
    }
    return 0;
}

static int is_sent(const search_t *search, const char *value)
{
    const strings_t *all = search->found;

    return bsearch(&value, all->elts, (size_t)all->nelts, sizeof(char *),
                   compare) ||
           (search->longer && is_longer(all, value));
}

/* RequestHeader can give the client's string another name. */
static int is_clients(const search_t *search, const char *name,
                      const char *value)
{
    return (is_untrusted(search, name) || is_connection(name, value)) &&
           is_sent(search, value);
}

static int go_on_if_ours(void *search, const char *name, const char *value)
{
    return !is_clients(search, name, value);
}

/* Each word at most once. */
static const char *fit_connection(apr_pool_t *p, const char *value)
{
    static const char separators[] = ",; \t";
    const char *fitted = NULL;
    size_t i, n;
    int seen[LENGTH(words)] = {0};

    for (; *value; value += n) {
        value += strspn(value, separators);
        n = strcspn(value, separators);
        for (i = 0; i < LENGTH(words); i++)
            seen[i] |=
                n == strlen(words[i]) && !ap_cstr_casecmpn(value, words[i], n);
    }
    for (i = 0; i < LENGTH(words); i++)
        if (seen[i])
            fitted = fitted ? apr_pstrcat(p, fitted, ", ", words[i], NULL)
                            : words[i];
    return fitted;
}

static int sort_out(void *search_, const char *name, const char *value)
{
    search_t *search = search_;
    request_rec *r = search->r;

    if (!is_clients(search, name, value)) {
        apr_table_addn(r->headers_in, name, value);
        return 1;
    }
    apr_table_addn(search->taken, name, value);
    if (is_connection(name, value)) {
        value = fit_connection(r->pool, value);
        if (value)
            apr_table_addn(r->headers_in, name, value);
    }
    else
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r,
                      "apppool: %s is not taken from %s", name,
                      r->connection->client_ip);
    return 1;
}

/* In the request's pool: what was removed. */
static apr_table_t *taken_of(request_rec *r)
{
    void *taken = NULL;

    apr_pool_userdata_get(&taken, TAKEN, r->pool);
    return taken;
}

static void remove_found(search_t *search)
{
    request_rec *r = search->r;
    apr_table_t *all;

    if (search->found->nelts == 0 ||
        apr_table_do(go_on_if_ours, search, r->headers_in, NULL))
        return;
    search->taken = taken_of(r);
    if (!search->taken) {
        search->taken = apr_table_make(r->pool, 4);
        apr_pool_userdata_setn(search->taken, TAKEN, NULL, r->pool);
    }
    all = apr_table_copy(r->pool, r->headers_in);
    if (r->main && r->main->headers_in == r->headers_in)
        r->headers_in = apr_table_make(r->pool, apr_table_elts(all)->nelts);
    else
        apr_table_clear(r->headers_in);
    apr_table_do(sort_out, search, all, NULL);
}

void apppool_untrusted_headers_remove_early(request_rec *r)
{
    search_t search = {r, is_peer_trusted(r), r->main || r->prev, strings_of(r),
                       NULL};

    remove_found(&search);
}

/* CGI's variable of a header, also of a header that the request had before an
 * internal redirect. */
static int is_variable(const char *name)
{
    static const char before[] = "REDIRECT_";

    while (!strncmp(name, before, sizeof before - 1))
        name += sizeof before - 1;
    return !strncmp(name, "HTTP_", 5);
}

static int keep_variable(void *search_, const char *name, const char *value)
{
    const search_t *search = search_;

    if (!is_variable(name) || !is_sent(search, value))
        apr_table_addn(search->r->subprocess_env, name, value);
    return 1;
}

/* A script that httpd has run before has left them: a page with SSI is one for
 * its subrequests. */
static void remove_variables(search_t *search)
{
    request_rec *r = search->r;
    apr_table_t *all = r->subprocess_env;

    search->longer = r->main || r->prev;
    r->subprocess_env = apr_table_make(r->pool, apr_table_elts(all)->nelts);
    apr_table_do(keep_variable, search, all, NULL);
}

void apppool_untrusted_headers_remove(request_rec *r)
{
    const apr_table_t *taken = taken_of(r);
    /* Were they restored, and RequestHeader could add to them? */
    int longer = taken && apr_is_empty_table(taken);
    search_t search = {r, is_peer_trusted(r), longer, strings_of(r), NULL};

    remove_found(&search);
    if (search.found->nelts > 0)
        remove_variables(&search);
    if (apr_is_empty_table(r->trailers_in))
        return;
    /* With MergeTrailers On, a module that has read the body has added them. A
     * proxy may pass them on without a look at them. */
    search.trusted = 0;
    search.longer = 0;
    search.found = find(&search, r->trailers_in);
    remove_found(&search);
}

static int give_back(void *headers, const char *name, const char *value)
{
    if (is_connection(name, value))
        apr_table_setn(headers, name, value);
    else if (!apr_table_get(headers, name))
        apr_table_addn(headers, name, value);
    return 1;
}

void apppool_untrusted_headers_restore(request_rec *r)
{
    apr_table_t *taken = taken_of(r);

    if (taken) {
        apr_table_do(give_back, r->headers_in, taken, NULL);
        apr_table_clear(taken);
    }
}
