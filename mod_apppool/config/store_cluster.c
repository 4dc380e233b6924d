/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/store_cluster.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <arpa/inet.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "mod_apppool/config/store.h"
#include "mod_apppool/config/value.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, ...)                                                        \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), 0, NULL,                 \
                 "apppool: " __VA_ARGS__)

static apppool_store_cluster_t *create(apr_pool_t *p)
{
    apppool_store_cluster_t *c = apr_pcalloc(p, sizeof *c);

    c->port[0] = 11211;
    c->port[1] = 11213;
    c->peers = apr_array_make(p, 2, sizeof(const char *));
    c->plain = apr_array_make(p, 2, sizeof(const char *));
    c->listens = apr_array_make(p, 2, sizeof(apppool_store_listen_t));
    return c;
}

const apppool_store_cluster_t *
apppool_store_cluster_of(apr_pool_t *p, const apppool_server_t *server)
{
    return server->store_cluster ? server->store_cluster : create(p);
}

/* Those of the server that is configured. @return NULL: `wrong` says why */
static apppool_store_cluster_t *cluster_of(cmd_parms *cmd, void *dir,
                                           const char *arg, const char **wrong)
{
    apppool_server_t *server =
        ap_get_module_config(cmd->server->module_config, &apppool_module);

    *wrong = apppool_value_check(cmd, dir, cmd->info, arg);
    if (*wrong)
        return NULL;
    if (!server->store_cluster)
        server->store_cluster = create(cmd->pool);
    return server->store_cluster;
}

/* ---- addresses and ports ---- */

/* The store is not root. */
#define PORT_MIN 1024

/* As inet_ntop() writes it, so that equal addresses are equal texts. An IPv4
 * address in the form of IPv6 has another text, and is refused.
 * @return NULL: it is no address */
static const char *parse_address(apr_pool_t *p, const char *arg)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr a;
    int family = strchr(arg, ':') ? AF_INET6 : AF_INET;

    if (inet_pton(family, arg, &a) != 1 ||
        (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a)) ||
        !inet_ntop(family, &a, text, sizeof text))
        return NULL;
    return apr_pstrdup(p, text);
}

static const char *no_address(const cmd_parms *cmd, const char *arg)
{
    return apr_psprintf(cmd->pool,
                        "%s: \"%s\" is not an IPv4 or IPv6 address, such as "
                        "10.0.0.9 or fd00::9",
                        cmd->cmd->name, arg);
}

/* @return 0: it is none */
static int parse_port(const char *arg)
{
    int port = 0;

    while (apr_isdigit(*arg) && port <= 65535)
        port = port * 10 + *arg++ - '0';
    return *arg || port > 65535 ? 0 : port;
}

static int is_wildcard(const char *address)
{
    return !strcmp(address, "0.0.0.0") || !strcmp(address, "::");
}

const char *apppool_store_cluster_set_vip(cmd_parms *cmd, void *dir,
                                          const char *arg)
{
    const char *wrong;
    apppool_store_cluster_t *c = cluster_of(cmd, dir, arg, &wrong);

    if (!c)
        return wrong;
    c->vip = parse_address(cmd->pool, arg);
    return c->vip && !is_wildcard(c->vip) ? NULL : no_address(cmd, arg);
}

const char *apppool_store_cluster_set_ports(cmd_parms *cmd, void *dir,
                                            const char *memcache,
                                            const char *repl,
                                            const char *counter)
{
    const char *const args[] = {memcache, repl};
    const char *wrong;
    apppool_store_cluster_t *c = NULL;
    int i;

    if (counter)
        return apr_psprintf(cmd->pool,
                            "%s: the counters of yrmcds are gone: remove the "
                            "third port, %s",
                            cmd->cmd->name, counter);
    for (i = 0; i < 2; i++) {
        c = cluster_of(cmd, dir, args[i], &wrong);
        if (!c)
            return wrong;
        c->port[i] = parse_port(args[i]);
        if (c->port[i] < PORT_MIN)
            return apr_psprintf(cmd->pool,
                                "%s: \"%s\" is not a port from %d to 65535",
                                cmd->cmd->name, args[i], PORT_MIN);
    }
    if (c->port[0] == c->port[1])
        return apr_psprintf(cmd->pool,
                            "%s: \"%s %s\" are not two different ports",
                            cmd->cmd->name, memcache, repl);
    return NULL;
}

const char *apppool_store_cluster_add_peer(cmd_parms *cmd, void *dir,
                                           const char *arg)
{
    const char *wrong, *address;
    apppool_store_cluster_t *c = cluster_of(cmd, dir, arg, &wrong);
    apr_array_header_t *list;

    if (!c)
        return wrong;
    list =
        ap_cstr_casecmp(cmd->cmd->name, "AppStorePeers") ? c->plain : c->peers;
    address = parse_address(cmd->pool, arg);
    if (!address || is_wildcard(address))
        return no_address(cmd, arg);
    if (list->nelts == APPPOOL_STORE_PEERS)
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is one address too many: %d are "
                            "allowed",
                            cmd->cmd->name, arg, APPPOOL_STORE_PEERS);
    APR_ARRAY_PUSH(list, const char *) = address;
    return NULL;
}

/* "10.0.0.1:11211" or "[::1]:11211". @return 0: it is something else */
static int parse_listen(apr_pool_t *p, const char *arg,
                        apppool_store_listen_t *l)
{
    const char *colon = strrchr(arg, ':');
    int is_v6 = *arg == '[';

    if (!colon || colon < arg + 3 || (is_v6 && colon[-1] != ']'))
        return 0;
    l->address = parse_address(
        p, apr_pstrmemdup(p, arg + is_v6,
                          (apr_size_t)(colon - arg) - 2 * (apr_size_t)is_v6));
    l->port = parse_port(colon + 1);
    return l->address && l->port >= PORT_MIN &&
           is_v6 == (strchr(l->address, ':') != NULL);
}

const char *apppool_store_cluster_add_listen(cmd_parms *cmd, void *dir,
                                             const char *where,
                                             const char *space)
{
    const char *wrong;
    apppool_store_cluster_t *c = cluster_of(cmd, dir, where, &wrong);
    apppool_store_listen_t l = {.space = space};
    int i;

    if (!c)
        return wrong;
    wrong = apppool_value_check(cmd, dir, cmd->info, space);
    if (wrong)
        return wrong;
    if (!parse_listen(cmd->pool, where, &l))
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is not ADDRESS:PORT, such as "
                            "127.0.0.1:11211 or [::1]:11211, with a port from "
                            "%d to 65535",
                            cmd->cmd->name, where, PORT_MIN);
    for (i = 0; i < c->listens->nelts; i++) {
        const apppool_store_listen_t *other =
            &APR_ARRAY_IDX(c->listens, i, apppool_store_listen_t);

        if (other->port == l.port && !strcmp(other->address, l.address))
            return apr_psprintf(cmd->pool,
                                "%s: \"%s\" is there twice: an address and "
                                "port can serve one space",
                                cmd->cmd->name, where);
    }
    if (i == APPPOOL_STORE_LISTENS)
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is one too many: %d are allowed",
                            cmd->cmd->name, where, APPPOOL_STORE_LISTENS);
    APR_ARRAY_PUSH(c->listens, apppool_store_listen_t) = l;
    return NULL;
}

/* ---- all together ---- */

static int is_space(const char *name)
{
    const apr_array_header_t *spaces = apppool_store_spaces();
    int i;

    for (i = 0; i < spaces->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(spaces, i, apppool_space_t *)->name, name))
            return 1;
    return 0;
}

/* Its size is that of the AppStore of an application. */
static int check_space(const char *directive, const char *value,
                       const char *space)
{
    if (is_space(space))
        return 1;
    SAY(APLOG_ERR,
        "%s %s: there is no space \"%s\": it is the group name or "
        "AppStoreSpace of an application that has AppStore and a size",
        directive, value, space);
    return 0;
}

static int is_loopback(const char *address)
{
    return !strncmp(address, "127.", 4) || !strcmp(address, "::1");
}

static const char *text_of(apr_pool_t *p, const apppool_store_listen_t *l)
{
    return apr_psprintf(p, strchr(l->address, ':') ? "[%s]:%d" : "%s:%d",
                        l->address, l->port);
}

/* The wildcard of a family has each of its addresses. */
static int has_address(const char *a, const char *b)
{
    return !strcmp(a, b) ||
           (is_wildcard(a) && !strchr(a, ':') == !strchr(b, ':'));
}

/* The kernel gives a port of an address to one socket. */
static int check_vip_ports(apr_pool_t *p, const apppool_store_cluster_t *c,
                           const apppool_store_listen_t *l)
{
    int i;

    for (i = 0; i < 2; i++)
        if (c->vip && l->port == c->port[i] &&
            has_address(l->address, c->vip)) {
            SAY(APLOG_ERR,
                "AppStoreListen %s: AppStoreVirtualIP %s has this port "
                "(AppStorePorts): one of both needs another port",
                text_of(p, l), c->vip);
            return 0;
        }
    return 1;
}

/* There the other hosts ask which data this one has. */
static int check_peer_port(apr_pool_t *p, const apppool_store_cluster_t *c,
                           const apppool_store_listen_t *l)
{
    int i;

    for (i = 0; i < c->peers->nelts; i++) {
        const char *peer = APR_ARRAY_IDX(c->peers, i, const char *);

        if (c->vip && l->port == c->port[1] && has_address(l->address, peer)) {
            SAY(APLOG_ERR,
                "AppStoreListen %s: the stores ask each other at this port of "
                "%s (AppStorePeers, AppStorePorts): it needs another port",
                text_of(p, l), peer);
            return 0;
        }
    }
    return 1;
}

/* The same place twice is refused when it is read. */
static int check_wildcard(apr_pool_t *p, const apppool_store_cluster_t *c,
                          const apppool_store_listen_t *l)
{
    int i;

    for (i = 0; i < c->listens->nelts; i++) {
        const apppool_store_listen_t *other =
            &APR_ARRAY_IDX(c->listens, i, apppool_store_listen_t);

        if (other != l && other->port == l->port &&
            has_address(l->address, other->address)) {
            SAY(APLOG_ERR,
                "AppStoreListen %s has the port of AppStoreListen %s, too: "
                "one of both needs another port",
                text_of(p, l), text_of(p, other));
            return 0;
        }
    }
    return 1;
}

static int check_listen(apr_pool_t *p, const apppool_server_t *server,
                        const apppool_store_listen_t *l)
{
    const char *where = text_of(p, l);

    if (server->store_key || is_loopback(l->address))
        return check_space("AppStoreListen",
                           apr_pstrcat(p, where, " ", l->space, NULL),
                           l->space);
    SAY(APLOG_ERR,
        "AppStoreListen %s %s: other hosts reach this address, so it needs "
        "AppStoreKey; without it, 127.0.0.0/8 and ::1 are allowed",
        where, l->space);
    return 0;
}

/* Without TLS, a slave has the open space only, and confirms nothing. */
static void warn_of_confirm(const apppool_server_t *server,
                            const apppool_store_cluster_t *c)
{
    const apr_array_header_t *spaces = apppool_store_spaces();
    int i;

    for (i = 0; i < spaces->nelts && !(c->vip && server->store_key); i++) {
        const apppool_space_t *s = APR_ARRAY_IDX(spaces, i, apppool_space_t *);

        if (s->confirm != APPPOOL_STORE_CONFIRM_OFF)
            ap_log_error(
                APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL,
                "apppool: %s: AppStoreConfirm has no effect without %s",
                s->place, c->vip ? "AppStoreKey" : "AppStoreVirtualIP");
    }
}

/* ---- what proves that a host is the one that it says ---- */

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

/* May the store have its virtual address? What it will not share is a
 * warning. */
static int check_vip(const apppool_server_t *server,
                     const apppool_store_cluster_t *c)
{
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

int apppool_store_cluster_check(apr_pool_t *p, const server_rec *main_server)
{
    const apppool_server_t *server =
        ap_get_module_config(main_server->module_config, &apppool_module);
    const apppool_store_cluster_t *c = apppool_store_cluster_of(p, server);
    int i, good = 1;

    warn_of_confirm(server, c);
    good &= check_vip(server, c);
    if (server->store_open_space)
        good &= check_space("AppStoreOpenSpace", server->store_open_space,
                            server->store_open_space);
    for (i = 0; i < c->listens->nelts; i++) {
        const apppool_store_listen_t *l =
            &APR_ARRAY_IDX(c->listens, i, apppool_store_listen_t);

        good &= check_listen(p, server, l) & check_vip_ports(p, c, l) &
                check_peer_port(p, c, l) & check_wildcard(p, c, l);
    }
    return good;
}
