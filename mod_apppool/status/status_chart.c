/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status_chart.h"

#include <apr_strings.h>
#include <http_protocol.h>

#include "mod_apppool/status/status_text.h"

#define WIDTH  240 /* of the drawing; the page stretches it */
#define HEIGHT 40
#define PLACES 120  /* samples that fit in */
#define POINT  48   /* bytes of one sample */
#define NONE   (-1) /* no value, for example if no request has ended */

typedef struct {
    const char *key, *title;
    const char *(*show)(request_rec *r, double value);
} chart_t;

static const char *show_rate(request_rec *r, double value)
{
    return apr_psprintf(r->pool, value < 10 ? "%.1f/s" : "%.0f/s", value);
}

static const char *show_count(request_rec *r, double value)
{
    return apr_psprintf(r->pool, "%.0f", value);
}

/* The place of a sample, counted from the right: the last sample is now. */
static double place(size_t i, size_t n)
{
    return WIDTH - (double)(n - 1 - i) * WIDTH / (PLACES - 1);
}

/* A line, or the area below it. A missing value is a gap. */
static const char *path_of(request_rec *r, const json_t *history,
                           const char *key, double most, int area)
{
    size_t i, n = json_array_size(history), first = n;
    char *path = apr_palloc(r->pool, (n + 2) * POINT), *to = path;

    *to = 0;
    for (i = 0; i <= n; i++) {
        const json_t *value = json_object_get(json_array_get(history, i), key);
        double part = most > 0 ? json_number_value(value) / most : 0;

        if (json_is_number(value)) {
            to += apr_snprintf(to, POINT / 2, "%c%.1f %.1f",
                               first == n ? 'M' : 'L', place(i, n),
                               HEIGHT - 1 - part * (HEIGHT - 3));
            first = first == n ? i : first;
        }
        else if (first != n) {
            to += area ? apr_snprintf(to, POINT / 2, "V%dH%.1fZ", HEIGHT,
                                      place(first, n))
                       : apr_snprintf(to, POINT / 2, "h.1");
            first = n;
        }
    }
    return path;
}

static void draw(request_rec *r, const json_t *history, const chart_t *c)
{
    size_t i, n = json_array_size(history);
    double most = NONE, last = NONE;

    for (i = 0; i < n; i++) {
        const json_t *value =
            json_object_get(json_array_get(history, i), c->key);

        last = json_is_number(value) ? json_number_value(value) : NONE;
        most = last > most ? last : most;
    }
    ap_rvputs(r, "<figure><figcaption>", c->title, " <b>",
              last < 0 ? APPPOOL_STATUS_NONE : c->show(r, last),
              "</b> <small>at most ",
              most < 0 ? APPPOOL_STATUS_NONE : c->show(r, most),
              "</small></figcaption>\n", NULL);
    ap_rprintf(r,
               "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
               "preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"%s, last ten minutes\">",
               WIDTH, HEIGHT, WIDTH, HEIGHT, c->title);
    ap_rvputs(r, "<path class=\"area\" fill=\"#8884\" d=\"",
              path_of(r, history, c->key, most, 1),
              "\"/><path class=\"line\" fill=\"none\" stroke=\"currentColor\" "
              "vector-effect=\"non-scaling-stroke\" d=\"",
              path_of(r, history, c->key, most, 0), "\"/></svg></figure>\n",
              NULL);
}

void apppool_status_charts(request_rec *r, const json_t *history)
{
    static const chart_t charts[] = {
        {"rate", "Requests", show_rate},
        {"latency", "Response time", apppool_status_span},
        {"queue", "Queue", show_count}};
    size_t i;

    ap_rputs("<section id=\"history\" class=\"charts\" "
             "title=\"the last ten minutes\">\n",
             r);
    for (i = 0; i < sizeof charts / sizeof *charts; i++)
        draw(r, history, &charts[i]);
    ap_rputs("</section>\n", r);
}
