/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <ap_mpm.h>
#include <apr_network_io.h>
#include <apr_strings.h>
#include <http_core.h>
#include <time.h>
#include <unistd.h>

#include "shm/lock/alive.h"
#include "shm/view/view.h"

/* "+01:00" */
static json_t *zone(request_rec *r, apr_time_t t)
{
    apr_time_exp_t e;
    int minutes;

    apr_time_exp_lt(&e, t);
    minutes = e.tm_gmtoff / 60;
    return json_string(apr_psprintf(r->pool, "%c%02d:%02d",
                                    minutes < 0 ? '-' : '+',
                                    (minutes < 0 ? -minutes : minutes) / 60,
                                    (minutes < 0 ? -minutes : minutes) % 60));
}

/* How long the parent of httpd has run, which only its end and its start
 * change. @return us; -1: not known */
static apr_int64_t uptime(void)
{
    apl_identity_t parent;
    struct timespec now;
    long ticks = sysconf(_SC_CLK_TCK);

    if (ticks <= 0 || apl_alive_identify((int32_t)getppid(), &parent) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return -1;
    return (apr_int64_t)now.tv_sec * APR_USEC_PER_SEC + now.tv_nsec / 1000 -
           (apr_int64_t)(parent.start * APR_USEC_PER_SEC / (apr_uint64_t)ticks);
}

static json_t *host(void)
{
    char name[APRMAXHOSTLEN + 1];

    return gethostname(name, sizeof name - 1) == 0
               ? apl_report_text((name[sizeof name - 1] = 0, name))
               : NULL;
}

json_t *apppool_status_server(request_rec *r)
{
    apr_time_t now = apr_time_now();
    apr_int64_t up = uptime();
    json_t *o = json_object();
    ap_version_t httpd;

    ap_get_server_revision(&httpd);
    apl_report_set_known(o, "host", host());
    json_object_set_new(o, "server_name",
                        apl_report_text(ap_get_server_name(r)));
    json_object_set_new(o, "version", json_string(APPPOOL_VERSION));
    json_object_set_new(
        o, "httpd",
        apl_report_text(apr_psprintf(r->pool, "Apache %d.%d.%d", httpd.major,
                                     httpd.minor, httpd.patch)));
    apl_report_set_known(o, "started",
                         up < 0 ? NULL : apl_report_time(now - up));
    apl_report_set_known(o, "uptime",
                         up < 0 ? NULL : json_integer(up / APR_USEC_PER_SEC));
    json_object_set_new(o, "now", apl_report_time(now));
    json_object_set_new(o, "zone", zone(r, now));
    return o;
}
