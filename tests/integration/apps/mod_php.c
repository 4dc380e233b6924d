/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* For harness/php.py, which compiles it: a module of httpd that has the name,
 * the handlers and the directives of mod_php. It runs no script. It responds
 * that it would, and leaves a script to httpd where the engine is off. */

#include <httpd.h>

#include <apr_strings.h>
#include <http_config.h>
#include <http_protocol.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int engine; /* 1: off */
    int admin;  /* it was set by php_admin_... */
} settings_t;

extern module AP_MODULE_DECLARE_DATA php_module;

static void *create(apr_pool_t *p, char *path)
{
    (void)path;
    return apr_pcalloc(p, sizeof(settings_t));
}

static void *merge(apr_pool_t *p, void *base_, void *over_)
{
    const settings_t *base = base_, *over = over_;

    return apr_pmemdup(
        p, over->engine && (over->admin || !base->admin) ? over : base,
        sizeof(settings_t));
}

static const char *set(cmd_parms *cmd, void *settings_, const char *name,
                       const char *value)
{
    settings_t *settings = settings_;

    if (!strcmp(name, "engine")) {
        settings->engine = !ap_cstr_casecmp(value, "on") || atoi(value) ? 2 : 1;
        settings->admin = !strncmp(cmd->cmd->name, "php_admin", 9);
    }
    return NULL;
}

static int run(request_rec *r)
{
    const settings_t *settings =
        ap_get_module_config(r->per_dir_config, &php_module);

    if (!r->handler || (strcmp(r->handler, "application/x-httpd-php") &&
                        strcmp(r->handler, "php-script")))
        return DECLINED;
    if (settings->engine == 1)
        return DECLINED;
    if (r->finfo.filetype != APR_REG)
        return HTTP_NOT_FOUND;
    ap_set_content_type(r, "text/plain");
    ap_rputs("run by mod_php", r);
    return OK;
}

static void hook(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(run, NULL, NULL, APR_HOOK_MIDDLE);
}

static const command_rec commands[] = {
    AP_INIT_TAKE2("php_value", set, NULL, OR_OPTIONS, "a value"),
    AP_INIT_TAKE2("php_flag", set, NULL, OR_OPTIONS, "a switch"),
    AP_INIT_TAKE2("php_admin_value", set, NULL, ACCESS_CONF | RSRC_CONF,
                  "a value"),
    AP_INIT_TAKE2("php_admin_flag", set, NULL, ACCESS_CONF | RSRC_CONF,
                  "a switch"),
    {0},
};

AP_DECLARE_MODULE(php) = {
    STANDARD20_MODULE_STUFF, create, merge, NULL, NULL, commands, hook,
    AP_MODULE_FLAG_NONE,
};
