/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status.h
 * @brief The views of the pool for an operator: SetHandler apppool-status, and
 *        a section of mod_status; SetHandler apppool-health for load balancers.
 *
 * All views show one document (shm/view/report.c): the page, `?list`, `?json`,
 * `?auto` and `?metrics`.
 *
 * Lock:  none, or for a copy: see shm/view/snapshot.h.
 * Trust: everything that comes from the segment or the store is escaped.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_H
#define MOD_APPPOOL_STATUS_STATUS_H

#include <httpd.h>
#include <http_config.h>
#include <jansson.h>

/* status.c */

/* The hooks. */
int apppool_status_handler(request_rec *r);
int apppool_status_section(request_rec *r, int flags);

/* status_health.c: the health URL for load balancers: SetHandler
 * apppool-health.
 *
 * It responds with one word: 200 and "ok" if the next request would get a
 * process or a place in the queue, else 503 and the reason. Without a query it
 * speaks for the host; with ?app=NAME, up to 64 times, for these apps.
 * doc/balancer.md has the list of words. Anybody may ask: a response shows no
 * more than that an app of this name exists.
 *
 * Lock:  for each app, the pool lock for less than a microsecond
 *        (shm/verbs/health.h). If one wait for it is in vain, there is no other
 *        one.
 * Trust: no byte of the segment and none of the request is in a response. */

/* The hook. */
int apppool_status_health(request_rec *r);

/* status_metrics.c: the status document (shm/view/report.c) as OpenMetrics.
 *
 * Trust: names of applications are escaped. */

/** `?metrics`: OpenMetrics 1.0, to its "# EOF". */
void apppool_status_metrics(request_rec *r, const json_t *doc);

/* status_page.c: the page for people. The server makes one table: what is
 * wrong, and the totals. It is the whole page where scripts are off. Elsewhere
 * the script of the page takes its place, and asks for `?list` and
 * `?json&app=NAME`.
 *
 * Trust: what comes from the document is escaped. */

/** Set what a browser may load for any of our views, and which sites may frame
 * it. */
#define APPPOOL_STATUS_POLICY                                                  \
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"

/** Write the page. */
void apppool_status_page(request_rec *r, const json_t *doc);

/** Write only the table, for a page of another module. */
void apppool_status_body(request_rec *r, const json_t *doc);

/* assets.awk makes these of the files in page/. They are constant and part of
 * the page, so the page is one response and loads nothing. */

extern const char apppool_status_style[];

/** page/page.js says what it does. */
extern const char apppool_status_script[];

/* status_list.c: a short document for the page: a row for each application,
 * whether it was used or not. */

/**
 * Make the document of `?list`.
 * @return a new reference: parts of `doc`; `columns[]`, names; and `rows[]`, an
 *         array of values each, which may end before the last column
 */
json_t *apppool_status_list(const json_t *doc);

/** Of all but the groups, keep only what belongs to this application: its row
 * of the configuration, its problems and its space of the store. */
void apppool_status_only(json_t *doc, const char *name);

/* status_server.c: which server this is, and its clock. */

/** @return a new reference: the object `server` of the document */
json_t *apppool_status_server(request_rec *r);

/* status_action.c: the buttons of the status page: detach a process, end a
 * request together with its process, restart or drain an application, or end
 * its drain.
 *
 * They only do what any child of httpd can do to the segment. They need no
 * further rights, and they send nothing to root's processes (SECURITY).
 *
 * Lock:  the pool lock, in verbs of supervise.h, timeouts.h and admin.h.
 * Crash: a verb is done completely or not at all.
 * Trust: the form may contain any bytes. The names in it are looked up in a
 *        snapshot. */

/**
 * Serve a POST to the page: do what its form says.
 * @param allowed AppStatusAllowActions
 * @return HTTP_SEE_OTHER: done; OK: a response was sent, with 403: not allowed,
 *         or not our form; 412: the process or app does not exist any more;
 *         503: try again; or an error
 */
int apppool_status_action(request_rec *r, int allowed);

/* status_token.c: what a button of the status page must send: a proof that we
 * sent its page to the same user a short time ago.
 *
 * Another site can make a browser send any form here, with the operator's
 * login. But that site can neither read the page nor guess a token. A token is
 * the time and a MAC of time and user. httpd's parent makes the key of the MAC
 * with each configuration. Nothing is stored, and all children of httpd know
 * the key.
 *
 * Trust: a token may contain any bytes. It is compared in constant time. */

/** Make the key. Call it in the parent, before children are forked. */
void apppool_status_token_begin(void);

/** A token for this request's user. */
const char *apppool_status_token(request_rec *r);

/** Is it a token of this user, and not too old? A token is valid for at least
 * 15 and less than 20 minutes. */
int apppool_status_token_ok(request_rec *r, const char *token);

/* status_origin.c: does the configuration of the server say that a request gets
 * the status? .htaccess may not say it, because it belongs to one tenant, and
 * the status shows all tenants.
 *
 * There are many ways to a handler: SetHandler, AddHandler, ForceType, a
 * rewrite rule, each of them in <Files> or <If>, and the index of a directory.
 * So this looks the URL of the request up again, as if there was no .htaccess.
 * The request gets the status only if that gives the same handler, and if the
 * rules of access allow it.
 *
 * Trust: .htaccess may say anything. It is not read for the look-up. */

/** Would this request get its handler without .htaccess? To be called by the
 * handler. If not, the log says so.
 * @return OK or HTTP_FORBIDDEN */
int apppool_status_origin_check(request_rec *r);

/** A hook of httpd: in a look-up, there is no .htaccess. */
apr_status_t apppool_status_origin_open_htaccess(request_rec *r,
                                                 const char *directory,
                                                 const char *name,
                                                 ap_configfile_t **file,
                                                 const char **path);

#endif
