/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/streaming.h"

static ap_filter_rec_t *switching;

uint32_t apppool_streaming_kind(const request_rec *r)
{
    const char *value = apr_table_get(r->headers_out, "X-Accel-Buffering");

    if (r->content_type &&
        !ap_cstr_casecmpn(r->content_type, "text/event-stream", 17))
        return APL_LONG_LIVED_CONNECTION;
    if (!value) /* over fcgi and scgi it is here */
        value = apr_table_get(r->err_headers_out, "X-Accel-Buffering");
    return value && !ap_cstr_casecmp(value, "no") ? APL_LONG_LIVED_RESPONSE : 0;
}

/* httpd negotiates some upgrades itself. An upgrade to h2c with an app would
 * bypass everything that is configured here. */
int apppool_streaming_wants_upgrade(const request_rec *r)
{
    const char *value = apr_table_get(r->headers_in, "Upgrade");

    return value && !ap_strcasestr(value, "h2c") &&
           !ap_strcasestr(value, "tls/") && !ap_strcasestr(value, "http/");
}

uint32_t apppool_streaming_is_full(const apppool_app_t *app,
                                   const apl_pool_t *pool,
                                   const apl_session_ref_t *ref, int leaves)
{
    apl_long_lived_t n = apl_checkout_count_long_lived(pool, ref, leaves);
    uint32_t most = app->max_long_lived, are = n.held + n.suspended;

    if (app->set->max_long_lived == APPPOOL_UNSET) {
        most = leaves ? app->max_suspended : most;
        are = leaves ? n.suspended : n.held;
    }
    return most != 0 && are >= most ? most : 0;
}

/* Of a connection: the request that asks for an upgrade; or NULL. */
typedef struct {
    apppool_streaming_t *waits;
} switch_t;

static switch_t *switch_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &apppool_module);
}

static apr_status_t see_switch(ap_filter_t *f, apr_bucket_brigade *bb)
{
    switch_t *its = f->ctx;
    const apppool_streaming_t *streaming = its->waits;

    if (streaming && streaming->r->status == HTTP_SWITCHING_PROTOCOLS) {
        apl_checkout_set_long_lived(streaming->pool, streaming->ref,
                                    APL_LONG_LIVED_CONNECTION);
        its->waits = NULL;
    }
    return ap_pass_brigade(f->next, bb);
}

void apppool_streaming_register(void)
{
    switching = ap_register_output_filter("APPPOOL_SWITCH", see_switch, NULL,
                                          AP_FTYPE_CONNECTION);
}

void apppool_streaming_begin(apppool_streaming_t *streaming, request_rec *r,
                             apl_pool_t *pool, const apl_session_ref_t *ref)
{
    conn_rec *c = r->connection;
    switch_t *its;

    if (!apppool_streaming_wants_upgrade(r))
        return;
    streaming->r = r;
    streaming->pool = pool;
    streaming->ref = ref;
    its = switch_of(c);
    if (!its) {
        its = apr_pcalloc(c->pool, sizeof *its);
        ap_set_module_config(c->conn_config, &apppool_module, its);
        ap_add_output_filter_handle(switching, its, NULL, c);
    }
    its->waits = streaming;
}

void apppool_streaming_end(const apppool_streaming_t *streaming)
{
    switch_t *its = streaming->r ? switch_of(streaming->r->connection) : NULL;

    if (its && its->waits == streaming)
        its->waits = NULL;
}
