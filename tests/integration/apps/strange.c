/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* For test_parked_strange.py, which compiles it: httpd as it may be in another
 * release. `Strange WORD' says which step of mod_apppool/pump/rehearsal.h it does
 * not do, with connections that have left their worker. */

#include <httpd.h>

#include <ap_mpm.h>
#include <http_config.h>
#include <http_connection.h>
#include <apr_portable.h>
#include <http_core.h>
#include <mpm_common.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAITS "strange" /* the note of a connection that has waited */

static const char *word = "";

static int is(const char *other)
{
    return !strcmp(word, other);
}

/* The other hooks run within this one. */
static int run_others(conn_rec *c, const conn_rec **inside)
{
    int status;

    *inside = c;
    status = ap_run_process_connection(c);
    *inside = NULL;
    return status;
}

/* Around mod_apppool's. */
static int outer(conn_rec *c)
{
    static __thread const conn_rec *inside;
    int has_waited, status;

    if (c == inside || !c->cs)
        return DECLINED;
    has_waited = apr_table_get(c->notes, WAITS) != NULL;
    status = run_others(c, &inside);
    if (c->cs->state != CONN_STATE_ASYNC_WAITIO)
        return status;
    apr_table_setn(c->notes, WAITS, "");
    if (is(has_waited ? "waits-on" : "waits"))
        c->cs->state = CONN_STATE_LINGER;
    return status;
}

/* Within mod_apppool's. */
static int inner(conn_rec *c)
{
    static __thread const conn_rec *inside;
    int status;

    if (c == inside || !c->cs)
        return DECLINED;
    status = run_others(c, &inside);
    if (is("suspended") && c->cs->state == CONN_STATE_SUSPENDED)
        c->cs->state = CONN_STATE_LINGER;
    return status;
}

static void before_wait(conn_rec *c, request_rec *r)
{
    (void)r;
    if (is("state") && c->cs->state == CONN_STATE_ASYNC_WAITIO)
        c->cs->state = CONN_STATE_KEEPALIVE;
}

/* httpd waits for something that nobody writes to. */
static void after_wait(conn_rec *c, request_rec *r)
{
    int client, nothing;

    (void)r;
    if (is("state"))
        c->cs->state = CONN_STATE_ASYNC_WAITIO;
    if (!is("wake") || !apr_table_get(c->notes, WAITS))
        return;
    nothing = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    apr_os_sock_get(&client, ap_get_conn_socket(c));
    dup2(nothing, client);
    close(nothing);
}

/* mod_apppool's is not called. */
static int before_close(conn_rec *c)
{
    return is("end") && apr_table_get(c->notes, WAITS) ? DONE : DECLINED;
}

static const char *set_word(cmd_parms *cmd, void *dir, const char *its)
{
    (void)cmd;
    (void)dir;
    word = its;
    return NULL;
}

static const command_rec commands[] = {
    AP_INIT_TAKE1("Strange", set_word, NULL, RSRC_CONF, ""),
    {0},
};

static void hook(apr_pool_t *p)
{
    (void)p;
    ap_hook_process_connection(outer, NULL, NULL, APR_HOOK_REALLY_FIRST - 1);
    ap_hook_process_connection(inner, NULL, NULL, APR_HOOK_REALLY_FIRST + 1);
    ap_hook_suspend_connection(before_wait, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_suspend_connection(after_wait, NULL, NULL,
                               APR_HOOK_REALLY_LAST + 1);
    ap_hook_pre_close_connection(before_close, NULL, NULL,
                                 APR_HOOK_REALLY_FIRST - 1);
}

AP_DECLARE_MODULE(strange) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, commands, hook,
    AP_MODULE_FLAG_NONE,
};
