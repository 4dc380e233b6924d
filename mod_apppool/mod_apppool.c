/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The module: its hooks and its record. This is also a table of contents. */

#include <httpd.h>

#include <http_config.h>
#include <http_request.h>
#include <ap_mpm.h>
#include <mpm_common.h>
#include <mod_proxy.h>
#include <mod_status.h>

#include "mod_apppool/body/request_body.h"
#include "mod_apppool/config/config.h"
#include "mod_apppool/config/checks.h"
#include "mod_apppool/config/directives.h"
#include "mod_apppool/request/app_headers.h"
#include "mod_apppool/request/document_root.h"
#include "mod_apppool/request/exchange.h"
#include "mod_apppool/request/handler.h"
#include "mod_apppool/parent/parent.h"
#include "mod_apppool/pump/suspend.h"
#include "mod_apppool/request/raw_path.h"
#include "mod_apppool/request/response_count.h"
#include "mod_apppool/request/response_filter.h"
#include "mod_apppool/request/source_guard.h"
#include "mod_apppool/status/status.h"
#include "mod_apppool/backend/proxy_filter.h"
#include "mod_apppool/request/routing.h"
#include "mod_apppool/request/script_handler.h"
#include "mod_apppool/request/untrusted_headers.h"

static int make_keys(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                     server_rec *s)
{
    (void)pconf;
    (void)plog;
    (void)ptemp;
    (void)s;
    apppool_status_token_begin();
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    /* mod_proxy's child_init makes what our channels need. */
    static const char *const after_proxy[] = {"mod_proxy.c", NULL};
    /* DirectoryIndex comes first. So do requests that other modules claim, but
     * not what RequestHeader says. */
    static const char *const after_index[] = {"mod_dir.c", "mod_rewrite.c",
                                              "mod_proxy.c", NULL};
    static const char *const before_index[] = {"mod_dir.c", "mod_headers.c",
                                               NULL};
    static const char *const before_headers[] = {"mod_headers.c", NULL};
    static const char *const after_actions[] = {"mod_actions.c", NULL};

    (void)p;
    apppool_untrusted_headers_register();
    apppool_request_body_register();
    apppool_response_filter_register();
    apppool_proxy_filter_register();
    apppool_suspend_register(apppool_handler_resume);

    ap_hook_pre_config(apppool_lifecycle_pre_config, NULL, NULL,
                       APR_HOOK_MIDDLE);
    ap_hook_check_config(apppool_lifecycle_check_config, NULL, NULL,
                         APR_HOOK_LAST);
    ap_hook_post_config(apppool_lifecycle_post_config, NULL, NULL,
                        APR_HOOK_LAST);
    ap_hook_post_config(make_keys, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_monitor(apppool_lifecycle_monitor, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(apppool_lifecycle_child_init, after_proxy, NULL,
                       APR_HOOK_MIDDLE);
    ap_hook_child_init(apppool_document_root_init, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_stopping(apppool_lifecycle_child_stopping, NULL, NULL,
                           APR_HOOK_MIDDLE);

    /* What mod_remoteip has left of a header is the client's, too. */
    ap_hook_post_read_request(apppool_untrusted_headers_note, NULL, NULL,
                              APR_HOOK_REALLY_LAST);
    ap_hook_pre_translate_name(apppool_raw_path_pre_translate, NULL, NULL,
                               APR_HOOK_REALLY_FIRST);
    ap_hook_translate_name(apppool_raw_path_translate, NULL, NULL,
                           APR_HOOK_REALLY_FIRST);
    /* Rewrite rules, aliases, and hosts and users by their names come first. */
    ap_hook_translate_name(apppool_routing_translate, NULL, NULL,
                           APR_HOOK_LAST);
    ap_hook_map_to_storage(apppool_routing_map_to_storage, NULL, NULL,
                           APR_HOOK_FIRST);
    ap_hook_map_to_storage(apppool_document_root_map_to_storage, NULL, NULL,
                           APR_HOOK_LAST);
    ap_hook_post_perdir_config(apppool_routing_post_perdir_config, NULL, NULL,
                               APR_HOOK_FIRST);
    ap_hook_fixups(apppool_routing_before_index, NULL, before_index,
                   APR_HOOK_LAST);
    ap_hook_fixups(apppool_routing_fixups, after_index, before_headers,
                   APR_HOOK_LAST);
    ap_hook_fixups(apppool_source_guard_fixups, NULL, NULL,
                   APR_HOOK_REALLY_LAST);
    APR_OPTIONAL_HOOK(proxy, fixups, apppool_app_headers_fixups, NULL, NULL,
                      APR_HOOK_MIDDLE);
    APR_OPTIONAL_HOOK(proxy, fixups, apppool_exchange_fixups, NULL, NULL,
                      APR_HOOK_MIDDLE);
    ap_hook_handler(apppool_handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(apppool_script_handler_keep_source, after_actions, NULL,
                    APR_HOOK_LAST);
    ap_hook_handler(apppool_status_handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(apppool_status_health, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(apppool_source_guard_handler, NULL, NULL, APR_HOOK_LAST);
    ap_hook_open_htaccess(apppool_status_origin_open_htaccess, NULL, NULL,
                          APR_HOOK_FIRST);
    ap_hook_log_transaction(apppool_response_count_log, NULL, NULL,
                            APR_HOOK_MIDDLE);
    ap_hook_log_transaction(apppool_denied_root_log, NULL, NULL,
                            APR_HOOK_MIDDLE);
    APR_OPTIONAL_HOOK(ap, status_hook, apppool_status_section, NULL, NULL,
                      APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(apppool) = {
    STANDARD20_MODULE_STUFF,
    apppool_config_dir_create,
    apppool_config_dir_merge,
    apppool_config_server_create,
    NULL,
    apppool_directives,
    register_hooks,
    AP_MODULE_FLAG_NONE,
};
