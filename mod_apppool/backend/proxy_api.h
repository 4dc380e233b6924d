/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file proxy_api.h
 * @brief The functions of mod_proxy that we use, looked up in its own DSO.
 *
 * So our module can be loaded before mod_proxy: it has no undefined symbol that
 * mod_proxy defines. Each time httpd reads its configuration, mod_proxy may be
 * at another address, and our memory is new. So the functions are looked up
 * again.
 *
 * Lock:  none; constant in the children.
 * Trust: the types are those of mod_proxy.h, so a wrong type does not compile.
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
    X(ap_proxy_create_hdrbrgd)                                                 \
    X(ap_proxy_location_reverse_map)                                           \
    X(ap_proxy_cookie_reverse_map)                                             \
    X(ap_proxy_should_override)                                                \
    X(proxy_run_canon_handler)                                                 \
    X(proxy_run_scheme_handler)

/** A pointer to each function, under the name of that function. */
typedef struct {
#define APPPOOL_PROXY_MEMBER(name) __typeof__(&name) name;
    APPPOOL_PROXY_FUNCTIONS(APPPOOL_PROXY_MEMBER)
#undef APPPOOL_PROXY_MEMBER
    module *proxy_module;
} apppool_proxy_api_t;

/** Filled in by apppool_proxy_api_check(). */
extern apppool_proxy_api_t apppool_proxy;

/**
 * Does mod_proxy have all functions that we need? If so, look them up.
 * @return NULL: yes; or the sentence that says what to load
 */
const char *apppool_proxy_api_check(apr_pool_t *p);

/** mod_proxy's settings of a server. */
proxy_server_conf *apppool_proxy_api_conf(const server_rec *s);

#endif
