/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/raw_path.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <stdlib.h>

#include "base/url_path.h"

/* Notes of a request. Its module configuration is the record of app_request.h.
 * There are no notes if both forms are the same. */
#define ENCODED "apppool-path-encoded"
#define DECODED "apppool-path-decoded"

int apppool_raw_path_pre_translate(request_rec *r)
{
    if (r->uri && ap_strchr_c(r->uri, '%'))
        apr_table_set(r->notes, ENCODED, r->uri);
    return DECLINED;
}

int apppool_raw_path_translate(request_rec *r)
{
    const char *encoded = apr_table_get(r->notes, ENCODED);
    /* Use the server's settings, not those of a <Location>, because httpd used
     * them to decode. */
    const core_dir_config *core =
        ap_get_core_module_config(r->server->lookup_defaults);
    char *decoded;

    if (!encoded)
        return DECLINED;
    decoded = apr_pstrdup(r->pool, encoded);
    /* With AllowEncodedSlashes On, "..%2F" leads to another path. */
    if (ap_unescape_url_keep2f(decoded, (int)core->decode_encoded_slashes) ==
            OK &&
        !strcmp(decoded, r->uri))
        apr_table_setn(r->notes, DECODED, decoded);
    return DECLINED;
}

/* Some clients do not encode all bytes that have to be encoded. */
static const char *encode_odd(apr_pool_t *p, const char *path)
{
    char *url = apr_palloc(p, strlen(path) * 3 + 1);

    url_path_encode(path, "%", url);
    return url;
}

/* What follows the prefix; NULL: it does not begin with the prefix. */
static const char *skip_prefix(const char *encoded, const char *prefix)
{
    char c;

    for (; *prefix; prefix++) {
        c = *encoded;
        if (c == '%' && apr_isxdigit(encoded[1]) && apr_isxdigit(encoded[2])) {
            char digits[] = {encoded[1], encoded[2], 0};

            c = (char)strtol(digits, NULL, 16);
            if (c == '/')
                return NULL;
            encoded += 2;
        }
        if (c != *prefix)
            return NULL;
        encoded++;
    }
    return encoded;
}

const char *apppool_raw_path_below(request_rec *r, const char *base_uri)
{
    const char *encoded = apr_table_get(r->notes, ENCODED);
    const char *decoded = apr_table_get(r->notes, DECODED);
    const char *rest;

    if (!decoded || strcmp(decoded, r->uri))
        return NULL;
    rest = skip_prefix(encoded, base_uri);
    if (!rest || (*rest && *rest != '/'))
        return NULL;
    return encode_odd(r->pool, *rest ? rest : "/");
}
