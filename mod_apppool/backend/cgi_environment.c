/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/cgi_environment.h"

#include <util_script.h>

#include "mod_apppool/config/php_rule.h"

#define OF_HTTPD 32 /* variables, without those of headers */

/* httpd takes these from the request, before those of its own process. */
static const char *const first[] = {"PATH", "LD_LIBRARY_PATH"};

static const apr_table_entry_t *pairs_of(const apr_table_t *table, int *n)
{
    const apr_array_header_t *all = apr_table_elts(table);

    *n = all->nelts;
    return (const apr_table_entry_t *)all->elts;
}

/* Does a header occur twice? Then httpd has to sort. */
static int has_twins(const apr_table_t *headers)
{
    int i, n;
    const apr_table_entry_t *pairs = pairs_of(headers, &n);

    for (i = 0; i < n; i++)
        if (apr_table_get(headers, pairs[i].key) != pairs[i].val)
            return 1;
    return 0;
}

/* mod_env adds its variables without a look at those of mod_setenvif. The last
 * one of a name counts, as in httpd. */
static void add_own(apr_table_t *to, const apr_table_t *own)
{
    int i, n;
    const apr_table_entry_t *pairs = pairs_of(own, &n);
    size_t at;

    for (at = 0; at < sizeof first / sizeof *first; at++) {
        const char *value = apr_table_get(own, first[at]);

        if (value)
            apr_table_setn(to, first[at], value);
    }
    for (i = n; i-- > 0;)
        if (!apr_table_get(to, pairs[i].key))
            apr_table_addn(to, pairs[i].key, pairs[i].val);
}

/* Of a script, php-cgi takes a PATH_INFO beside a REDIRECT_URL for the mistake
 * of a server, and removes it (cgi.fix_pathinfo). "RewriteRule ^(.*)$
 * index.php/$1" in .htaccess makes both. */
static void keep_path_info(apr_table_t *variables)
{
    const char *script = apr_table_get(variables, "SCRIPT_FILENAME");

    if (script && apppool_php_rule_suffix(script) >= 0 &&
        apr_table_get(variables, "PATH_INFO"))
        apr_table_unset(variables, "REDIRECT_URL");
}

void apppool_cgi_environment_add(request_rec *r)
{
    apr_table_t *own = r->subprocess_env;

    if (!has_twins(r->headers_in))
        r->subprocess_env =
            apr_table_make(r->pool, OF_HTTPD + apr_table_elts(own)->nelts +
                                        apr_table_elts(r->headers_in)->nelts);
    ap_add_common_vars(r);
    ap_add_cgi_vars(r);
    if (r->subprocess_env != own)
        add_own(r->subprocess_env, own);
    keep_path_info(r->subprocess_env);
}
