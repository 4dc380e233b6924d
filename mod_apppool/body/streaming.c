/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/streaming.h"

#include "mod_apppool/parent/lifecycle.h"

static ap_filter_rec_t *switching;

uint32_t apppool_lasting_is(const request_rec *r)
{
    const char *wish = apr_table_get(r->headers_out, "X-Accel-Buffering");

    if (r->content_type &&
        !ap_cstr_casecmpn(r->content_type, "text/event-stream", 17))
        return APL_LINKS;
    if (!wish) /* there it is over fcgi and scgi */
        wish = apr_table_get(r->err_headers_out, "X-Accel-Buffering");
    return wish && !ap_cstr_casecmp(wish, "no") ? APL_LASTS : 0;
}

int apppool_lasting_asks(const request_rec *r)
{
    const char *wish = apr_table_get(r->headers_in, "Upgrade");

    return wish && !ap_strcasestr(wish, "h2c") &&
           !ap_strcasestr(wish, "tls/") && !ap_strcasestr(wish, "http/");
}

int apppool_lasting_full(const apppool_app_t *app, const apl_hold_t *hold)
{
    return app->max_lasting != 0 &&
           apl_checkout_lasting(apppool_pool(), hold) >= app->max_lasting;
}

static apr_status_t see_switch(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_lasting_t *lasting = f->ctx;
    ap_filter_t *next = f->next;

    if (lasting->r->status == HTTP_SWITCHING_PROTOCOLS) {
        apl_checkout_endless(apppool_pool(), lasting->hold, APL_LINKS);
        apppool_lasting_end(lasting);
    }
    return ap_pass_brigade(next, bb);
}

void apppool_lasting_register(void)
{
    switching = ap_register_output_filter("APPPOOL_SWITCH", see_switch, NULL,
                                          AP_FTYPE_CONNECTION);
}

void apppool_lasting_begin(apppool_lasting_t *lasting, request_rec *r,
                           const apl_hold_t *hold)
{
    lasting->r = r;
    lasting->hold = hold;
    if (!lasting->filter && apr_table_get(r->headers_in, "Upgrade"))
        lasting->filter = ap_add_output_filter_handle(switching, lasting, NULL,
                                                      r->connection);
}

void apppool_lasting_end(apppool_lasting_t *lasting)
{
    if (lasting->filter)
        ap_remove_output_filter(lasting->filter);
    lasting->filter = NULL;
}
