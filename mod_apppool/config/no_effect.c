/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/no_effect.h"

#include <http_log.h>

APLOG_USE_MODULE(apppool);

#define SAY(...)                                                               \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL,           \
                 "apppool: " __VA_ARGS__)

void apppool_no_effect_warn(const apppool_app_t *app, apr_int64_t max)
{
    const apl_options_t *o = &app->pool.options;

    if (app->prestart && o->min_instances == 0)
        SAY("AppPreStart On (%s) starts nothing, as MinInstances is 0",
            app->place);
    if (app->log_raw && !app->set->log)
        SAY("AppLogFormat raw (%s) has no effect without AppLog: what the "
            "application prints goes to the error log, where each line begins "
            "with its time and process",
            app->place);
    if (o->max_instances > max)
        SAY("%s (%s): MaxInstances %u is above MaxPoolSize %" APR_INT64_T_FMT
            ", the limit of all applications together: there are never so "
            "many processes",
            app->pool.root, app->place, o->max_instances, max);
}
