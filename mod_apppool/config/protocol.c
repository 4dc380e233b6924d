/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/protocol.h"

#include <apr_strings.h>
#include <http_config.h>

#include "shm/format/format.h"

static const char *want(apr_pool_t *p, const char *directive, const char *name)
{
    return apr_psprintf(p,
                        "%s needs mod_%s: add \"LoadModule %s_module "
                        "modules/mod_%s.so\" (Debian: a2enmod %s)",
                        directive, name, name, name, name);
}

const char *apppool_protocol_missing_proxy(apr_pool_t *p, const char *directive)
{
    return want(p, directive, "proxy");
}

const char *apppool_protocol_name(apr_int64_t protocol)
{
    static const char *const schemes[] = {[APL_HTTP] = "http",
                                          [APL_FCGI] = "fcgi",
                                          [APL_SCGI] = "scgi",
                                          [APL_UWSGI] = "uwsgi",
                                          [APL_AUTO] = "auto"};

    return schemes[protocol >= APL_HTTP && protocol <= APL_AUTO ? protocol
                                                                : APL_HTTP];
}

int apppool_protocol_is_bare(apr_int64_t protocol)
{
    return protocol == APL_SCGI || protocol == APL_UWSGI;
}

const char *apppool_protocol_missing(apr_pool_t *p, apr_int64_t protocol)
{
    const char *scheme = apppool_protocol_name(protocol);
    const char *name =
        ap_find_linked_module("mod_proxy.c") && protocol == APL_HTTP
            ? "proxy_http"
            : "proxy";

    if (ap_find_linked_module(apr_pstrcat(p, "mod_", name, ".c", NULL)))
        return NULL;
    return want(p, apr_pstrcat(p, "AppProtocol ", scheme, NULL), name);
}
