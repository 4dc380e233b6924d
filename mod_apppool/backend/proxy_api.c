/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/proxy_api.h"

#include <apr_strings.h>
#include <dlfcn.h>
#include <http_config.h>

#include "mod_apppool/config/protocol.h"

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

const char *apppool_proxy_api_check(apr_pool_t *p)
{
    const module *m = ap_find_linked_module("mod_proxy.c");
    const char *missing;

    if (!m)
        return apppool_protocol_missing_proxy(p, "AppRoot");
    missing = load(m);
    if (missing)
        return apr_psprintf(
            p, "mod_apppool cannot use this mod_proxy: it has no %s()",
            missing);
    return NULL;
}

proxy_server_conf *apppool_proxy_api_conf(const server_rec *s)
{
    return ap_get_module_config(s->module_config, apppool_proxy.proxy_module);
}
