/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/proxy_api.h"

#include <apr_strings.h>
#include <dlfcn.h>
#include <http_config.h>

#include "shm/format/format.h"

apppool_proxy_api_t apppool_proxy;

static void *look_up(const module *m, const char *name)
{
    apr_dso_handle_sym_t symbol = NULL;

    if (!m->dynamic_load_handle) /* linked into httpd itself */
        return dlsym(RTLD_DEFAULT, name);
    if (apr_dso_sym(&symbol, m->dynamic_load_handle, name) != APR_SUCCESS)
        return NULL;
    return symbol;
}

/* @return name of the first function that is missing */
static const char *load(const module *m)
{
    void *found;

#define LOAD(name)                                                             \
    found = look_up(m, #name);                                                 \
    if (!found)                                                                \
        return #name;                                                          \
    memcpy(&apppool_proxy.name, &found, sizeof found);
    APPPOOL_PROXY_FUNCTIONS(LOAD)
#undef LOAD
    apppool_proxy.proxy_module = ap_find_linked_module("mod_proxy.c");
    return NULL;
}

static const char *want(apr_pool_t *p, const char *who, const char *name)
{
    return apr_psprintf(p,
                        "%s needs mod_%s: add \"LoadModule %s_module "
                        "modules/mod_%s.so\" (Debian: a2enmod %s)",
                        who, name, name, name, name);
}

const char *apppool_proxy_api_check(apr_pool_t *p)
{
    const module *m = ap_find_linked_module("mod_proxy.c");
    const char *missing;

    if (!m)
        return want(p, "AppRoot", "proxy");
    missing = load(m);
    if (missing)
        return apr_psprintf(p,
                            "this mod_proxy is not one that mod_apppool can "
                            "use: it has no %s()",
                            missing);
    return NULL;
}

const char *apppool_proxy_scheme(apr_int64_t protocol)
{
    static const char *const schemes[] = {[APL_HTTP] = "http",
                                          [APL_FCGI] = "fcgi",
                                          [APL_SCGI] = "scgi",
                                          [APL_UWSGI] = "uwsgi",
                                          [APL_AUTO] = "auto"};

    return schemes[protocol >= APL_HTTP && protocol <= APL_AUTO ? protocol
                                                                : APL_HTTP];
}

const char *apppool_proxy_speaks(apr_pool_t *p, apr_int64_t protocol)
{
    const char *scheme = apppool_proxy_scheme(protocol);
    const char *name = ap_find_linked_module("mod_proxy.c")
                           ? apr_pstrcat(p, "proxy_", scheme, NULL)
                           : "proxy";

    if (ap_find_linked_module(apr_pstrcat(p, "mod_", name, ".c", NULL)))
        return NULL;
    return want(p, apr_pstrcat(p, "AppProtocol ", scheme, NULL), name);
}

const char *apppool_proxy_speaks_any(apr_pool_t *p)
{
    apr_int64_t i;

    for (i = APL_HTTP; i < APL_AUTO; i++)
        if (!apppool_proxy_speaks(p, i))
            return NULL;
    return apppool_proxy_speaks(p, APL_HTTP);
}

proxy_server_conf *apppool_proxy_api_conf(const server_rec *s)
{
    return ap_get_module_config(s->module_config, apppool_proxy.proxy_module);
}
