/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/pump/room.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <util_filter.h>

APLOG_USE_MODULE(apppool);

#define DESCRIPTORS 4 /* of a connection: two sockets, and an eventfd twice */
#define FACTOR      2 /* httpd's default of AsyncRequestWorkerFactor */

/* ---- how many ---- */

static int can_wait(void)
{
    int can = 0;

#ifdef AP_MPMQ_CAN_WAITIO
    if (ap_mpm_query(AP_MPMQ_CAN_WAITIO, &can) != APR_SUCCESS)
        return 0;
#endif
    return can;
}

/* httpd does not say what was configured. The last one counts. */
static void find_factor(const ap_directive_t *at, double *factor)
{
    for (; at; at = at->next) {
        if (!ap_cstr_casecmp(at->directive, "AsyncRequestWorkerFactor"))
            *factor = strtod(at->args, NULL);
        find_factor(at->first_child, factor);
    }
}

/* Of a child; 0: this MPM cannot do it. */
static int count_threads(void)
{
    int threads = 0;

    return can_wait() &&
                   ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads) == APR_SUCCESS
               ? threads
               : 0;
}

uint32_t apppool_room_most(const char **limit)
{
    struct rlimit files = {0, 0};
    double factor = FACTOR;
    int threads = count_threads();
    rlim_t most;

    *limit = "AsyncRequestWorkerFactor";
    if (threads == 0 || getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 0;
    find_factor(ap_conftree, &factor);
    most = files.rlim_cur / 2 / DESCRIPTORS;
    if (factor * threads / 2 < (double)most)
        return (uint32_t)(factor * threads / 2);
    *limit = "half of its file descriptors (ulimit -n)";
    return (uint32_t)most;
}

uint32_t apppool_room_factor(uint32_t n)
{
    uint32_t threads = (uint32_t)count_threads();

    return threads > 0 ? (2 * n + threads - 1) / threads : 0;
}

/* ---- which ---- */

/* None of these waits for anything, or sleeps. */
static const char *const known[] = {
    "apppool_done",
    "apppool_switch",
    "apppool_wire",
    "apppool_tap",
    "brotli_compress",
    "byterange",
    "chunk",
    "content_length",
    "core",
    "core_in",
    "deflate",
    "fixup_headers_err",
    "fixup_headers_out",
    "http_header",
    "http_in",
    "http_outerror",
    "log_input_output",
    "logio_ttfb_out",
    "mod_expires",
    "remoteip_input",
    "reqtimeout",
    "ssl/tls coalescing filter",
    "ssl/tls filter",
    "substitute",
};

/* AddOutputFilterByType makes one of its own, which calls that in its name. */
#define BY_TYPE "BYTYPE:"

static int is_known(const ap_filter_t *f)
{
    const char *name = f->frec->name;
    size_t i = 0;

    if (!strncmp(name, BY_TYPE, sizeof BY_TYPE - 1))
        name += sizeof BY_TYPE - 1;
    while (i < sizeof known / sizeof *known &&
           ap_cstr_casecmp(name, known[i]) != 0)
        i++;
    return i < sizeof known / sizeof *known;
}

static int are_known(const request_rec *r, const ap_filter_t *f)
{
    for (; f; f = f->next)
        if (!is_known(f)) {
            ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                          "apppool: the connection keeps a worker, because the "
                          "filter %s may wait",
                          f->frec->name);
            return 0;
        }
    return 1;
}

int apppool_room_is_suitable(const request_rec *r)
{
    const conn_rec *c = r->connection;

    return c->cs && !c->master && !c->clogging_input_filters && !r->main &&
           !r->prev && r->proto_num >= HTTP_VERSION(1, 1) && !r->header_only &&
           !c->aborted && are_known(r, c->input_filters) &&
           are_known(r, r->output_filters);
}
