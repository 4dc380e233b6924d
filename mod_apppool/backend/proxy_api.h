/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file proxy_api.h
 * @brief The functions of mod_proxy that we use, looked up in its own DSO.
 *
 * So our module can be loaded before mod_proxy: it has no undefined symbol that
 * mod_proxy defines. mod_proxy may be at another address with each
 * configuration, and our memory is new then, too; so they are looked up each
 * time.
 *
 * Lock:  none; constant in the children.
 * Crash: not concerned.
 * Trust: the types are those of mod_proxy.h, so that a wrong one does not
 *        compile.
 */
#ifndef MOD_APPPOOL_BACKEND_PROXY_API_H
#define MOD_APPPOOL_BACKEND_PROXY_API_H

#include <httpd.h>
#include <mod_proxy.h>

#define APPPOOL_PROXY_FUNCTIONS(X)                                             \
    X(ap_proxy_define_worker)                                                  \
    X(ap_proxy_initialize_worker)                                              \
    X(ap_proxy_acquire_connection)                                             \
    X(ap_proxy_release_connection)                                             \
    X(ap_proxy_connection_create_ex)                                           \
    X(ap_proxy_backend_broke)                                                  \
    X(ap_proxy_should_override)                                                \
    X(proxy_run_request_status)                                                \
    X(proxy_run_canon_handler)                                                 \
    X(proxy_run_scheme_handler)

/** A pointer to each, by its own name. */
typedef struct {
#define APPPOOL_PROXY_MEMBER(name) __typeof__(&name) name;
    APPPOOL_PROXY_FUNCTIONS(APPPOOL_PROXY_MEMBER)
#undef APPPOOL_PROXY_MEMBER
    module *proxy_module;
} apppool_proxy_api_t;

/** Filled in by apppool_proxy_api_check(). */
extern apppool_proxy_api_t apppool_proxy;

/**
 * Is mod_proxy there, with all that we need? If so, it is looked up.
 * @return NULL: yes; or the sentence that says what to load
 */
const char *apppool_proxy_api_check(apr_pool_t *p);

/** mod_proxy's settings of a server. */
proxy_server_conf *apppool_proxy_api_conf(const server_rec *s);

#endif
