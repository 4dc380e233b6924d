/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status_store.h"

#include <apr_strings.h>
#include <http_protocol.h>

#include "mod_apppool/status/status_cluster.h"
#include "mod_apppool/status/status_text.h"

#define WIDTH               240 /* of the bar; the page stretches it */

#define MEMBER(object, key) apppool_status_member(r, object, key)

/* ---- a space ---- */

/* How much of its size is used. */
static void bar(request_rec *r, const json_t *space)
{
    double size = json_number_value(json_object_get(space, "size"));
    double part =
        size > 0 ? json_number_value(json_object_get(space, "used")) / size : 0;

    ap_rprintf(r,
               "<svg class=\"fill\" viewBox=\"0 0 %d 1\" width=\"%d\" "
               "height=\"8\" preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"%.0f %% of the memory is used\">"
               "<rect width=\"%.1f\" height=\"1\" fill=\"currentColor\"/>"
               "</svg>\n",
               WIDTH, WIDTH, part * 100, part < 1 ? part * WIDTH : WIDTH);
}

static void facts(request_rec *r, const json_t *space)
{
    const json_t *limit = json_object_get(space, "max_connections");

    ap_rvputs(
        r, "<p><b>", apppool_status_bytes(r, json_object_get(space, "used")),
        "</b> of ", apppool_status_bytes(r, json_object_get(space, "size")),
        ", <b>", MEMBER(space, "items"),
        apppool_status_number(space, "items") == 1 ? "</b> item, "
                                                   : "</b> items, ",
        NULL);
    ap_rvputs(r, MEMBER(space, "connections"), NULL);
    if (json_integer_value(limit) > 0)
        ap_rvputs(r, " of ", apppool_status_show(r, limit), NULL);
    ap_rputs(apppool_status_number(space, "connections") == 1 &&
                     json_integer_value(limit) <= 0
                 ? " connection</p>\n"
                 : " connections</p>\n",
             r);
}

static void fact(request_rec *r, const char *what, const char *css,
                 const char *value)
{
    ap_rvputs(r, "<div><dt>", what, "</dt><dd class=\"", css, "\">", value,
              "</dd></div>\n", NULL);
}

/* The script of the page fills in how many there were in a second. */
static void operations(request_rec *r, const json_t *space, int n)
{
    ap_rprintf(r,
               "<div><dt>Operations</dt><dd id=\"ops%d\" "
               "data-total=\"%" APR_INT64_T_FMT "\">" APPPOOL_STATUS_NONE
               "</dd></div>\n",
               n, apppool_status_number(space, "operations"));
}

static void numbers(request_rec *r, const json_t *space, int n)
{
    static const struct {
        const char *key, *what, *css; /* the class when it is not 0 */
    } all[] = {
        {"gets", "Gets", ""},
        {"sets", "Sets", ""},
        {"expired", "Expired", ""},
        {"evictions", "Evicted", "warn"},
        {"out_of_memory", "Out of memory", "bad"},
        {"too_large", "Too large", "warn"},
        {"unconfirmed", "Unconfirmed", "warn"},
        {"not_confirmed", "Not confirmed", "bad"},
        {"connections_refused", "Refused", "bad"},
    };
    const json_t *rate = json_object_get(space, "hit_rate");
    const json_t *age = json_object_get(space, "evicted_age");
    size_t i;

    ap_rputs("<dl>", r);
    operations(r, space, n);
    fact(r, "Hit rate", "",
         json_is_number(rate)
             ? apr_psprintf(r->pool, "%.1f %%", json_number_value(rate) * 100)
             : APPPOOL_STATUS_NONE);
    for (i = 0; i < sizeof all / sizeof *all; i++)
        fact(r, all[i].what,
             apppool_status_number(space, all[i].key) > 0 ? all[i].css : "",
             MEMBER(space, all[i].key));
    if (json_is_number(age))
        fact(r, "Evicted after", "",
             apppool_status_span(r, json_number_value(age)));
    ap_rputs("</dl>\n", r);
}

static void section(request_rec *r, const json_t *space, int n)
{
    ap_rprintf(r, "<section class=\"store\" id=\"store%d\"><h2><span>", n);
    ap_rvputs(r, MEMBER(space, "name"),
              "</span> <span class=\"s\">store</span></h2>\n", NULL);
    facts(r, space);
    bar(r, space);
    numbers(r, space, n);
    ap_rputs("</section>\n", r);
}

/* ---- the whole ---- */

static apr_int64_t sum(const json_t *spaces, const char *key)
{
    const json_t *space;
    apr_int64_t all = 0;
    size_t i;

    json_array_foreach(spaces, i, space)
    {
        apr_int64_t n = apppool_status_number(space, key);

        all = n > APR_INT64_MAX - all ? APR_INT64_MAX : all + n;
    }
    return all;
}

/* Which process it is, and what it found when it started. */
static void process(request_rec *r, const json_t *store)
{
    const json_t *spaces = json_object_get(store, "spaces");
    apr_int64_t found = sum(spaces, "recovered");
    apr_int64_t dropped = sum(spaces, "dropped");
    apr_int64_t missing = apppool_status_number(store, "missing_listeners");

    ap_rvputs(r, "<section id=\"store\"><h2>Store</h2>\n<p>Process ",
              MEMBER(store, "pid"), ", started ",
              apppool_status_span(r, apppool_status_since(
                                         r, json_object_get(store, "started"))),
              " ago", NULL);
    if (found > 0 || dropped > 0) {
        ap_rprintf(r,
                   "; recovered %" APR_INT64_T_FMT " %s of the last store, in ",
                   found, found == 1 ? "item" : "items");
        ap_rvputs(r,
                  apppool_status_span(
                      r, json_number_value(json_object_get(store, "recovery"))),
                  NULL);
    }
    if (dropped > 0)
        ap_rprintf(r,
                   ", and <b class=\"warn\">dropped %" APR_INT64_T_FMT "</b>",
                   dropped);
    if (missing > 0)
        ap_rprintf(r,
                   "; <b class=\"bad\">it cannot listen at %" APR_INT64_T_FMT
                   " %s</b>: see the error log",
                   missing, missing == 1 ? "address" : "addresses");
    ap_rputs("</p></section>\n", r);
}

void apppool_status_store(request_rec *r, const json_t *store)
{
    const json_t *spaces = json_object_get(store, "spaces"), *space;
    size_t i;

    if (!json_is_object(store))
        return;
    process(r, store);
    apppool_status_cluster(r, json_object_get(store, "cluster"));
    json_array_foreach(spaces, i, space)
    {
        section(r, space, (int)i + 1);
    }
}
