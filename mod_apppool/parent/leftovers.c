/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/leftovers.h"

#include <httpd.h>

#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>
#include <http_main.h>
#include <string.h>

#include "mod_apppool/parent/watchdog_process.h"
#include "mod_apppool/parent/runtime_dir.h"

APLOG_USE_MODULE(apppool);

#define LIMIT (60 * APR_USEC_PER_SEC)

static const char *end_one(apppool_retained_t *r, const char *runtime,
                           apr_pool_t *p)
{
    pid_t pid;
    int status, error = apppool_watchdog_process_end(&pid, r, runtime);

    if (error)
        return apr_psprintf(p, "cannot start %s: %s", r->name, strerror(error));
    ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, ap_server_conf,
                 "apppool: ending what an httpd that was killed left in %s",
                 runtime);
    if (!apppool_watchdog_process_wait(pid, LIMIT, &status))
        return apr_psprintf(p,
                            "applications of an httpd that was killed still "
                            "run; watchdog %d waits for them in %s",
                            (int)pid, runtime);
    if (status != 0)
        return apr_psprintf(p,
                            "what an httpd that was killed left in %s could "
                            "not be ended: see the lines above",
                            runtime);
    return NULL;
}

const char *apppool_leftovers_end(apppool_retained_t *r, apr_pool_t *p)
{
    const char *runtime, *wrong;
    int n;

    for (n = 0; (runtime = apppool_runtime_dir_place(p, r->base, n)) != NULL;
         n++) {
        if (!apppool_runtime_dir_has_leftovers(p, runtime, n > 0))
            continue;
        wrong = end_one(r, runtime, p);
        if (wrong)
            return wrong;
        apppool_runtime_dir_clear(runtime, n > 0);
    }
    return NULL;
}
