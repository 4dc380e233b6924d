/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status.h
 * @brief The views of the pool for an operator: SetHandler apppool-status, and
 *        a section of mod_status; SetHandler apppool-health for load balancers.
 *
 * All views show one document (shm/view/report.c): the page, `?json`, `?auto`
 * and `?metrics`.
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

/* status_page.c: the status document (shm/view/report.c) for people. */

/** Set what a browser may load for any of our views, and which sites may frame
 * it. */
#define APPPOOL_STATUS_POLICY                                                  \
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"

/** Write the page. @param token for its buttons; NULL: no buttons */
void apppool_status_page(request_rec *r, const json_t *doc, const char *token);

/** Write only the body of the page, for a page of another module. */
void apppool_status_body(request_rec *r, const json_t *doc, const char *token);

/* status_assets.c: style and script of the status page. They are constant and
 * part of the page, so the page is one response and loads nothing. */

extern const char apppool_status_style[];

/**
 * The script requests the page every two seconds and replaces the sections that
 * have changed. An open part stays open, and an element with the focus keeps
 * it. The script waits while the page is hidden or text is selected, and says
 * so if no response comes. It sends the form of a button without leaving the
 * page.
 */
extern const char apppool_status_script[];

/* status_store.c: the part of the status page about the store: a section for
 * each space. */

/** Write the sections. @param store from the report; null: there are none */
void apppool_status_store(request_rec *r, const json_t *store);

/* status_text.c: values of the status document as people read them, in HTML.
 *
 * Trust: what is returned is escaped, whatever the value is. */

#define APPPOOL_STATUS_NONE "&ndash;"

/** Any value. */
const char *apppool_status_show(request_rec *r, const json_t *value);

/** A member of an object. */
const char *apppool_status_member(request_rec *r, const json_t *object,
                                  const char *key);

/** The text of a member; "" if it has none. Not escaped. */
const char *apppool_status_word(const json_t *object, const char *key);

/** A member that is a whole number; otherwise 0. */
apr_int64_t apppool_status_number(const json_t *object, const char *key);

/** Bytes: "12.3 MB". */
const char *apppool_status_bytes(request_rec *r, const json_t *value);

/** Seconds: "40 ms", "3.2 s", "5 min", "2 h 10 min", "3 d 4 h". */
const char *apppool_status_span(request_rec *r, double seconds);

/** Seconds since an ISO 8601 time; below 0 if the value is not a time. */
double apppool_status_since(request_rec *r, const json_t *instant);

/** "12:34:56" of an ISO 8601 time. */
const char *apppool_status_clock(request_rec *r, const json_t *instant);

/** The bound below which this part (0 to 1) of a histogram is: "&le; 25 ms".
 */
const char *apppool_status_within(request_rec *r, const json_t *histogram,
                                  double part);

/* status_action.c: the buttons of the status page: detach a process, end a
 * request together with its process, restart an application, or end its drain.
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

/**
 * A button: a form that sends an action.
 * @param token from apppool_status_token()
 * @param ask   the question that the user has to confirm; NULL: none
 */
const char *apppool_status_button(request_rec *r, const char *token,
                                  const char *label, const char *action,
                                  const char *name, const char *ask);

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
 * There are many ways to a handler: SetHandler, AddHandler, ForceType, a rewrite
 * rule, each of them in <Files> or <If>, and the index of a directory. So this
 * looks the URL of the request up again, as if there was no .htaccess. The
 * request gets the status only if that gives the same handler, and if the rules
 * of access allow it.
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
