/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/script_handler.h"

#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "mod_apppool/config/app_files.h"
#include "mod_apppool/config/php_verdict.h"
#include "mod_apppool/request/cgi_variables.h"
#include "detect/detect.h"

APLOG_USE_MODULE(apppool);

/* Does the app speak FastCGI, as its files say? */
static int detects_fcgi(const apppool_app_t *app)
{
    const char *file;

    return detect_protocol(app->pool.root, &file) == APL_FCGI;
}

int apppool_script_handler_speaks_fcgi(const request_rec *r,
                                       const apppool_app_t *app)
{
    static uint64_t known[APPPOOL_APP_FILES];

    return app->protocol == APL_FCGI ||
           (app->protocol == APL_AUTO &&
            apppool_app_files_ask(known, detects_fcgi, app,
                                  (uint64_t)apr_time_sec(r->request_time)));
}

static void say_overruled(const request_rec *r, const apppool_mount_t *mount,
                          const apppool_php_rule_t *rule)
{
    static int said; /* httpd -t says it of all others */

    if (rule->in_htaccess && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                      "apppool: %s does not count for the scripts of %s: the "
                      "application runs them (this is logged once)",
                      apppool_php_rule_text(r->pool, rule), mount->app->label);
}

/* mod_rewrite sets the handler of [H=...] in a hook that may come before or
 * after, as modules are loaded. */
static int is_of_rewrite(const request_rec *r)
{
    const char *forced = apr_table_get(r->notes, "rewrite-forced-handler");

    return forced && !strcmp(forced, r->handler);
}

void apppool_script_handler_settle(request_rec *r, const apppool_mount_t *mount)
{
    const apppool_php_rules_t *rules = apppool_config_php_rules(r);
    const apppool_php_rule_t *rule;
    const char *documents;

    if (!r->handler || !apppool_php_rule_runs_php(r->handler) ||
        is_of_rewrite(r) ||
        !apppool_cgi_variables_is_script(r, mount, r->filename) ||
        !apppool_script_handler_speaks_fcgi(r, mount->app) ||
        !apppool_cgi_variables_may_run(r, mount, r->filename))
        return;
    rule = apppool_php_verdict_rule(rules, r->handler, r->filename);
    documents = apppool_cgi_variables_documents(r, mount);
    if (!rule || apppool_php_verdict_is_own(rule, mount, documents))
        return;
    say_overruled(r, mount, rule);
    r->handler = apppool_php_verdict_handler(r->pool, rules, r->filename, mount,
                                             documents);
}

int apppool_script_handler_admit(request_rec *r, const apppool_mount_t *mount)
{
    const apppool_php_rule_t *rule;

    if (!apppool_cgi_variables_is_script(r, mount, r->filename))
        return OK;
    rule = apppool_php_verdict_off(r->pool, apppool_config_php_rules(r),
                                   r->handler, r->filename, mount,
                                   apppool_cgi_variables_documents(r, mount));
    if (!rule)
        return OK;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  "apppool: %s is neither run by %s nor sent: %s", r->filename,
                  mount->app->label, apppool_php_rule_text(r->pool, rule));
    return HTTP_FORBIDDEN;
}

int apppool_script_handler_keep_source(request_rec *r)
{
    const apppool_mount_t *mount = apppool_config_mount(r);

    if (!mount || !apppool_cgi_variables_is_script(r, mount, r->filename))
        return DECLINED;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  "apppool: %s is a script and is not sent: its handler is %s, "
                  "and no module has run it",
                  r->filename, r->handler ? r->handler : "none");
    return HTTP_FORBIDDEN;
}
