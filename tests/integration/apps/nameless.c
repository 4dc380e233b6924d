/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* For test_nameless.py, which compiles it: a module of httpd that leaves a
 * request without the name of a file. The query of the URL says where. */

#include <httpd.h>

#include <http_config.h>
#include <http_request.h>
#include <string.h>

static int has_query(const request_rec *r, const char *word)
{
    return r->args && !strcmp(r->args, word);
}

/* It needs no file, and httpd is to look for none. */
static int translate(request_rec *r)
{
    return has_query(r, "never") ? OK : DECLINED;
}

/* It was to serve the file itself, and then leaves it to the other handlers. */
static int handle(request_rec *r)
{
    if (has_query(r, "dropped"))
        r->filename = NULL;
    return DECLINED;
}

static void hook(apr_pool_t *p)
{
    (void)p;
    ap_hook_translate_name(translate, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_map_to_storage(translate, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_handler(handle, NULL, NULL, APR_HOOK_FIRST);
}

AP_DECLARE_MODULE(nameless) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, hook,
    AP_MODULE_FLAG_NONE,
};
