/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/store_peers.h"

#include <http_log.h>
#include <string.h>

#include "mod_apppool/config/store.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, ...)                                                        \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), 0, NULL,                 \
                 "apppool: " __VA_ARGS__)

static int is_plain(const apppool_store_cluster_t *c, const char *address)
{
    int i;

    for (i = 0; i < c->plain->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(c->plain, i, const char *), address))
            return 1;
    return 0;
}

/* An address proves nothing, because each user of its host can connect. */
static int check_peers(const apppool_store_cluster_t *c)
{
    int i;

    for (i = 0; i < c->peers->nelts; i++) {
        const char *peer = APR_ARRAY_IDX(c->peers, i, const char *);

        if (is_plain(c, peer))
            continue;
        SAY(APLOG_ERR,
            "AppStoreVirtualIP %s: without AppStoreKey each user of the host "
            "%s (AppStorePeers) could read and change all spaces. Give the "
            "stores a secret: AppStoreKey names its file, which is the same on "
            "all hosts and which only root can read, and AppStoreUser names a "
            "user of the store's own, as which neither httpd nor an "
            "application runs. Or, if %s is a yrmcds, name it in "
            "AppStorePlainPeers, too: then only the space of AppStoreOpenSpace "
            "is shared",
            c->vip, peer, peer);
        return 0;
    }
    return 1;
}

/* What nobody outside gets is a surprise, and no danger. */
static void warn_unshared(const apppool_store_cluster_t *c, const char *open)
{
    const apr_array_header_t *spaces = apppool_store_spaces();
    const char *first = NULL;
    int i, n = 0;

    for (i = 0; i < spaces->nelts; i++) {
        const char *name = APR_ARRAY_IDX(spaces, i, apppool_space_t *)->name;

        if (open && !strcmp(name, open))
            continue;
        first = first ? first : name;
        n++;
    }
    if (n > 0)
        SAY(APLOG_WARNING,
            "AppStoreVirtualIP %s: without AppStoreKey only the space of "
            "AppStoreOpenSpace is shared. Only the host with the address "
            "serves the others, which are %d (%s)",
            c->vip, n, first);
}

int apppool_store_peers_check(apr_pool_t *p, const server_rec *main_server)
{
    const apppool_server_t *server =
        ap_get_module_config(main_server->module_config, &apppool_module);
    const apppool_store_cluster_t *c = apppool_store_cluster_of(p, server);
    const char *open = server->store_open_space;

    if (!c->vip)
        return 1;
    if (c->peers->nelts == 0) {
        SAY(APLOG_ERR,
            "AppStoreVirtualIP %s: it needs AppStorePeers, with the addresses "
            "of the other hosts that may have it",
            c->vip);
        return 0;
    }
    if (!server->store_key && !check_peers(c))
        return 0;
    if (c->plain->nelts > 0 && !open)
        SAY(APLOG_WARNING,
            "AppStorePlainPeers %s: without AppStoreOpenSpace these hosts "
            "get nothing",
            APR_ARRAY_IDX(c->plain, 0, const char *));
    if (!server->store_key)
        warn_unshared(c, open);
    return 1;
}
