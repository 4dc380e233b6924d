/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/error_page.h"

#include <apr_file_io.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <string.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/instance/current.h"
#include "base/contract.h"
#include "base/utf8.h"

#define FILE_MAX 16384
#define SHOWN_TO_ALL                                                           \
    "All clients see this page, because AppFriendlyErrors is On here."
#define UNKNOWN "\xEF\xBF\xBD" /* U+FFFD, in place of invalid bytes */

/* The values in the spawner's file; NULL: it has none. */
typedef struct {
    const char *id, *step, *failure, *reason, *command, *directory, *user,
        *output;
} failure_t;

/* ---- the file ---- */

static char *read_file(request_rec *r, const apppool_app_t *app,
                       const char *end)
{
    const char *path =
        apr_psprintf(r->pool, "%s/" CONTRACT_FAILURES "/" CONTRACT_ID_FMT "%s",
                     apppool_current()->runtime, app->pool.key, end);
    char *text = apr_pcalloc(r->pool, FILE_MAX + 1);
    apr_size_t length = 0;
    apr_file_t *file;

    if (apr_file_open(&file, path, APR_FOPEN_READ, 0, r->pool) != APR_SUCCESS)
        return NULL;
    apr_file_read_full(file, text, FILE_MAX, &length);
    apr_file_close(file);
    text[length] = 0;
    return text;
}

static void take_line(failure_t *f, char *line)
{
    const struct {
        const char *name, **value;
    } lines[] = {{"id ", &f->id},
                 {"step ", &f->step},
                 {"failure ", &f->failure},
                 {"reason ", &f->reason},
                 {"command ", &f->command},
                 {"user ", &f->user},
                 {"directory ", &f->directory}};
    size_t i;

    for (i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strncmp(line, lines[i].name, strlen(lines[i].name)))
            *lines[i].value = line + strlen(lines[i].name);
}

/* Use the file only if it is about this failure. There may be a newer failure
 * by now. Then the file does not belong to the error id of our client. */
static failure_t read_failure(request_rec *r, const apppool_app_t *app,
                              const char *id, int starting)
{
    static const failure_t nothing;
    char *line = read_file(r, app, starting ? CONTRACT_SLOW_START : ""), *end;
    failure_t f = nothing;

    while (line && (end = strchr(line, '\n')) != NULL) {
        *end++ = 0;
        if (!strcmp(line, "output")) {
            f.output = *end ? end : NULL;
            break;
        }
        take_line(&f, line);
        line = end;
    }
    return f.id && !strcmp(f.id, id) ? f : nothing;
}

/* ---- words ---- */

static const struct {
    const char *step, *doing, *advice;
} steps[] = {
    {"prepare", "Preparing the process",
     "This step failed before the application was involved: the error log has "
     "more. Check that there are enough descriptors, processes and memory, and "
     "room on the disk of the runtime directory."},
    {"user", "Becoming the application's user",
     "Set AppUser to the user that runs the application, or make that user the "
     "owner of AppRoot. The user must exist, and must not be root. Its group "
     "must not be root's group. If the user has no entry in the user database, "
     "name a group as well."},
    {"variables", "Reading AppEnvFile",
     "The file has to exist, and to belong to root or to the application's "
     "user. Only its owner may write to it. Each line is NAME=value. The error "
     "names a line that is wrong."},
    {"directory", "Entering the application's directory",
     "The directory must exist, and the user must have the right to enter it "
     "and every directory above it (chmod, chown). Without AppUser it must "
     "belong to the owner that it had when httpd was last reloaded."},
    {"command", "Running the command",
     "Check that the program is installed, that it is in the PATH of the "
     "application's user, and that this user may execute it. A full path in "
     "AppCommand helps. If the program exists and is not found, the "
     "interpreter in its first line (#!) is missing. Try the command yourself, "
     "as that user and in that directory."},
    {"boot", "Starting up",
     "The command ran, and ended by itself. It has to stay in the foreground. "
     "Its last output says why. If there is no output, run the command "
     "yourself, as that user and in that directory. If it ended by SIGKILL and "
     "nobody sent that, the kernel did, because memory ran out: see dmesg."},
    {"ready", "Becoming ready",
     "The command runs, but the application is not ready. Check that it "
     "listens where AppListen says (descriptor 3, the socket $APPPOOL_SOCKET, "
     "or port $PORT). If it only needs more time, raise AppStartTimeout."},
    {"stay", "Staying alive",
     "The application became ready, and ended before its first request. Its "
     "last output says why."},
};

static void describe(const failure_t *f, int starting, const char **doing,
                     const char **advice)
{
    size_t i;

    *doing = "Starting the application";
    *advice = apppool_error_words(starting ? APPPOOL_ERROR_STARTING
                                           : APPPOOL_ERROR_START_FAILED)
                  ->advice;
    for (i = 0; f->step && i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(f->step, steps[i].step)) {
            *doing = steps[i].doing;
            *advice = steps[i].advice;
        }
}

/* UTF-8 without control characters, except newline and tab. */
static const char *clean(apr_pool_t *p, const char *text)
{
    char *made = apr_palloc(p, strlen(text) * strlen(UNKNOWN) + 1), *to = made;
    size_t n;

    for (; *text; text += n ? n : 1) {
        n = *text == '\n' || *text == '\t' ? 1 : utf8_character(text);
        memcpy(to, n ? text : UNKNOWN, n ? n : strlen(UNKNOWN));
        to += n ? n : strlen(UNKNOWN);
    }
    *to = 0;
    return made;
}

/* ---- the page ---- */

typedef struct {
    request_rec *r;
    int html;
    const apppool_error_page_t *about;
} page_t;

static int is_starting(const page_t *page)
{
    return page->about->kind == APPPOOL_ERROR_STARTING;
}

static const char *show(const page_t *page, const char *text)
{
    text = clean(page->r->pool, text);
    return page->html ? ap_escape_html(page->r->pool, text) : text;
}

static void put_row(const page_t *page, const char *name, const char *value)
{
    if (!value)
        return;
    value = show(page, value);
    if (page->html)
        ap_rvputs(page->r, "<dt>", name, "</dt><dd>", value, "</dd>\n", NULL);
    else
        ap_rprintf(page->r, "%-12s%s\n", name, value);
}

static void put_section(const page_t *page, const char *title,
                        const char *element, const char *text)
{
    if (!text)
        return;
    text = show(page, text);
    if (page->html)
        ap_rvputs(page->r, "<h2>", title, "</h2>\n<", element, ">", text, "</",
                  element, ">\n", NULL);
    else
        ap_rvputs(page->r, "\n", title, ":\n", text,
                  *text && text[strlen(text) - 1] == '\n' ? "" : "\n", NULL);
}

static void put_head(const page_t *page, const char *title)
{
    title = show(page, title);
    if (!page->html) {
        ap_rvputs(page->r, title, "\n", NULL);
        return;
    }
    ap_rvputs(page->r,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
              "<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, "
              "initial-scale=1\">\n<title>",
              title,
              "</title>\n<style>\n"
              ":root{color-scheme:light dark}\n"
              "body{font:16px/1.5 system-ui,sans-serif;max-width:44em;"
              "margin:0 auto;padding:1em;overflow-wrap:anywhere}\n"
              "h1{font-size:1.4em}h2{font-size:1.1em;margin-bottom:.3em}\n"
              "dt{font-weight:bold}dd{margin:0 0 .5em}\n"
              "dd,pre{font-family:ui-monospace,monospace;font-size:14px}\n"
              "pre{white-space:pre-wrap;border-left:4px solid #c33;"
              "margin:0;padding:.3em .8em}\n"
              "footer{margin-top:2em;font-size:.85em}\n"
              "</style>\n</head>\n<body>\n<h1>",
              title, "</h1>\n", NULL);
}

static void put_end(const page_t *page, const char *text)
{
    if (page->html)
        ap_rvputs(page->r, "<footer>", text, "</footer>\n</body>\n</html>\n",
                  NULL);
    else
        ap_rvputs(page->r, "\n", text, "\n", NULL);
}

/* In httpd's own zone, as in its logs. */
static const char *time_of(request_rec *r)
{
    return ap_ht_time(r->pool, apr_time_now(), "%Y-%m-%d %H:%M:%S %z", 0);
}

/* For visitors. */
static void put_words(const page_t *page)
{
    const apppool_error_words_t *words = apppool_error_words(page->about->kind);
    apr_pool_t *p = page->r->pool;

    put_head(page, words->title);
    if (page->html)
        ap_rvputs(page->r, "<p>", show(page, words->visitor), "</p>\n", NULL);
    else
        ap_rvputs(page->r, "\n", show(page, words->visitor), "\n", NULL);
    put_end(page, apr_psprintf(
                      p,
                      "If you ask for help, name this: error " CONTRACT_ID_FMT
                      ", %s.",
                      page->about->id, time_of(page->r)));
}

static void put_facts(const page_t *page, const apppool_app_t *app,
                      const failure_t *f, const char *id, const char *doing)
{
    apr_pool_t *p = page->r->pool;
    const char *retry = apr_table_get(page->r->headers_out, "Retry-After");

    ap_rputs(page->html ? "<dl>\n" : "\n", page->r);
    put_row(page, "Step", doing);
    if (is_starting(page))
        put_row(page, "Starting for",
                apr_psprintf(p, "%d s", page->about->starting_ms / 1000));
    put_row(page, is_starting(page) ? "So far" : "Failure", f->failure);
    put_row(page, "Command", f->command);
    put_row(page, "Directory", f->directory ? f->directory : app->pool.root);
    put_row(page, "User", f->user);
    if (!is_starting(page))
        put_row(page, "Next try",
                retry ? apr_pstrcat(p, "in ", retry, " s", NULL)
                      : "after a pause, with the next request");
    put_row(page, "Error", id);
    put_row(page, "Time", time_of(page->r));
    if (page->html)
        ap_rputs("</dl>\n", page->r);
}

/* The reason comes first, then what it is found in, then the facts. */
static void put_start(const page_t *page, const apppool_app_t *app)
{
    apr_pool_t *p = page->r->pool;
    const char *id = apr_psprintf(p, CONTRACT_ID_FMT, page->about->id);
    failure_t f = read_failure(page->r, app, id, is_starting(page));
    const char *doing, *advice;

    describe(&f, is_starting(page), &doing, &advice);
    put_head(page, apr_pstrcat(p, app->label,
                               is_starting(page) ? " is still starting"
                                                 : " could not be started",
                               NULL));
    put_section(page, "Reason", "p", f.reason ? f.reason : f.failure);
    put_section(page, "Last output", "pre", f.output);
    put_facts(page, app, &f, id, doing);
    put_section(page, "What to try", "p", advice);
    put_end(page, SHOWN_TO_ALL);
}

/* What is known of any other error stands in one sentence. */
static void put_reason(const page_t *page, const apppool_app_t *app)
{
    const apppool_error_words_t *words = apppool_error_words(page->about->kind);
    request_rec *r = page->r;

    put_head(page, words->title);
    put_section(page, "Reason", "p", page->about->why);
    ap_rputs(page->html ? "<dl>\n" : "\n", r);
    put_row(page, "Application", app->label);
    put_row(page, "Error",
            apr_psprintf(r->pool, CONTRACT_ID_FMT, page->about->id));
    put_row(page, "Time", time_of(r));
    if (page->html)
        ap_rputs("</dl>\n", r);
    put_section(page, "What to try", "p", words->advice);
    put_end(page, SHOWN_TO_ALL);
}

/* Does the client ask for HTML by name? One that accepts anything is not a
 * browser. */
static int wants_html(const request_rec *r)
{
    const char *accept = apr_table_get(r->headers_in, "Accept");

    return accept && (ap_strcasestr(accept, "text/html") ||
                      ap_strcasestr(accept, "application/xhtml+xml"));
}

/* Remove what belongs to the URL, or to a response of the app that is not
 * sent. */
static void set_headers(request_rec *r, const page_t *page, int status)
{
    r->proxyreq = PROXYREQ_NONE;
    r->status = status;
    r->status_line = NULL;
    r->content_encoding = NULL;
    r->content_languages = NULL;
    r->clength = 0;
    r->headers_out = r->err_headers_out;
    r->err_headers_out = apr_table_make(r->pool, 3);
    if (ap_status_drops_connection(status) &&
        status != HTTP_SERVICE_UNAVAILABLE)
        r->connection->keepalive = AP_CONN_CLOSE;
    ap_set_content_type(r, page->html ? "text/html; charset=utf-8"
                                      : "text/plain; charset=utf-8");
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "Content-Security-Policy",
                   "default-src 'none'; style-src 'unsafe-inline'; "
                   "base-uri 'none'; form-action 'none'");
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
}

/* As httpd does for its own error responses: a filter may be in the middle of
 * the response of the app, or may have sent its end. */
static void reset_filters(request_rec *r)
{
    r->eos_sent = 0;
    r->output_filters = r->proto_output_filters;
    ap_run_insert_error_filter(r);
}

static int is_friendly(request_rec *r, const apppool_app_t *app)
{
    return apppool_config_or(apppool_setting_here(r, APPPOOL_AppFriendlyErrors),
                             apppool_config_is_friendly(app->environment)) != 0;
}

void apppool_error_page_send(request_rec *r, request_rec *first,
                             const apppool_app_t *app,
                             const apppool_error_page_t *about, int status)
{
    const page_t page = {r, wants_html(r), about};

    reset_filters(r);
    set_headers(r, &page, status);
    if (!is_friendly(first, app))
        put_words(&page);
    else if (about->why)
        put_reason(&page, app);
    else
        put_start(&page, app);
}

const char *apppool_error_page_note(request_rec *r,
                                    const apppool_error_page_t *about)
{
    return apr_psprintf(r->pool, "%s<br />\nError " CONTRACT_ID_FMT ", %s.",
                        apppool_error_words(about->kind)->visitor, about->id,
                        time_of(r));
}
