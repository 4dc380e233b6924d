/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/error_format.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "mod_apppool/config/text_check.h"
#include "base/contract.h"

APLOG_USE_MODULE(apppool);

/* An item of ErrorLogFormat. */
typedef struct {
    int begins_field;
    int hyphen; /* in place of no value */
    int level;  /* it is left out above this level */
    char kind;  /* the letter; 0: a text */
    const char *text, *argument;
} item_t;

/* What is known of the line. As in httpd, an item without a value takes back
 * what its field has so far. */
typedef struct {
    const char *server;
    char line[CONTRACT_FORMAT_MAX];
    size_t n, field; /* where the field begins */
    int skips;       /* the rest of the field */
    int overflows;
} draft_t;

const char *apppool_error_format_set(cmd_parms *cmd, void *dir,
                                     const char *format, const char *more)
{
    apppool_server_t *server =
        ap_get_module_config(cmd->server->module_config, &apppool_module);

    (void)dir;
    if (!more) /* else it is for lines about a request or a connection */
        server->error_format = format;
    return NULL;
}

/* ---- read the format, as parse_errorlog_item() of httpd does ---- */

/* Up to the next item or field. */
static const char *read_text(apr_pool_t *p, const char *at, item_t *item)
{
    char *text = apr_palloc(p, strlen(at) + 1), *to = text;
    int begun = 0;

    for (; *at && *at != '%' && (*at != ' ' || !begun); at++) {
        begun |= *at != ' ';
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '\\') {
            *to++ = *at++;
            break;
        }
        else {
            *to++ = *at;
            continue;
        }
        *to++ = strchr("rnt", *at) ? ' ' : *at;
    }
    *to = 0;
    item->text = text;
    return at;
}

static const char *read_item(apr_pool_t *p, const char *at, item_t *item)
{
    memset(item, 0, sizeof *item);
    if (at[0] == '%' && at[1] == ' ') {
        item->begins_field = 1;
        at += 2;
    }
    if (*at != '%') {
        item->begins_field |= *at == ' ';
        return read_text(p, at, item);
    }
    at++;
    if (*at == '%') {
        item->text = "%";
        return at + 1;
    }
    while (*at && !item->kind)
        if (*at == '{') {
            at++;
            item->argument = ap_getword(p, &at, '}');
        }
        else if (apr_isdigit(*at))
            item->level = 10 * item->level + (*at++ - '0');
        else if (*at == '-' || *at == '+')
            item->hyphen = *at++ == '-';
        else
            item->kind = *at++;
    return at;
}

/* ---- write it ---- */

static void put(draft_t *d, const char *text)
{
    size_t n = strlen(text);

    if (d->n + n >= sizeof d->line)
        d->overflows = 1;
    else {
        memcpy(d->line + d->n, text, n + 1);
        d->n += n;
    }
}

static void put_literally(draft_t *d, const char *text)
{
    char one[3] = "";

    for (; *text; text++) {
        one[0] = (unsigned char)*text < ' ' ? ' ' : *text;
        one[1] = *text == '%' ? '%' : 0;
        put(d, one);
    }
}

static void put_time(draft_t *d, const char *how)
{
    int compact = how && strchr(how, 'c'), exact = how && strchr(how, 'u');

    if (how && strchr(how, '%')) {
        put(d, "%{");
        put(d, how);
        put(d, "}");
        return;
    }
    put(d, compact ? (exact ? "%C" : "%c") : (exact ? "%u" : "%t"));
    if (how && strchr(how, 'z'))
        put(d, " %z");
}

/* @return 0: the item has no value without a request */
static int put_value(draft_t *d, const item_t *item)
{
    switch (item->kind) {
    case 't':
        put_time(d, item->argument);
        return 1;
    case 'l':
        put(d, "%l");
        return 1;
    case 'P':
    case 'T': /* these programs have one thread */
        put(d, "%P");
        return 1;
    case 'm':
        put(d, "apppool");
        return 1;
    case 'v':
        put_literally(d, d->server);
        return *d->server != 0;
    default:
        return 0;
    }
}

static void leave_out(draft_t *d)
{
    d->n = d->field;
    d->skips = 1;
}

static void add(draft_t *d, const item_t *item)
{
    if (item->begins_field) {
        if (!d->skips)
            d->field = d->n;
        d->skips = 0;
    }
    if (item->kind == 'M')
        put(d, "%M");
    else if (d->skips)
        return;
    else if (item->text)
        put_literally(d, item->text);
    else if (item->level > APLOG_INFO)
        leave_out(d);
    else if (!put_value(d, item)) {
        if (item->hyphen)
            put(d, "-");
        else
            leave_out(d);
    }
}

/* @return NULL: it is too long, or it is no text */
static const char *translate(apr_pool_t *p, const char *format,
                             const server_rec *s)
{
    draft_t d = {.server = s->server_hostname ? s->server_hostname : ""};
    item_t item;

    while (*format && !d.overflows) {
        format = read_item(p, format, &item);
        add(&d, &item);
    }
    d.line[d.n] = 0;
    return d.overflows || !strstr(d.line, "%M") ||
                   !apppool_text_check_is_text(d.line)
               ? NULL
               : apr_pstrdup(p, d.line);
}

static const char *set_for(const server_rec *s)
{
    const apppool_server_t *server =
        ap_get_module_config(s->module_config, &apppool_module);

    return server ? server->error_format : NULL;
}

const char *apppool_error_format(apr_pool_t *p, const server_rec *s,
                                 const server_rec *main_server)
{
    const char *format = set_for(s) ? set_for(s) : set_for(main_server);

    return format ? translate(p, format, s) : NULL;
}

void apppool_error_format_check(apr_pool_t *p, const server_rec *main_server)
{
    const server_rec *s;

    for (s = main_server; s; s = s->next)
        if (set_for(s) && !translate(p, set_for(s), s))
            ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, NULL,
                         "apppool: ErrorLogFormat of %s is longer than %d "
                         "bytes, or is not UTF-8: lines of applications and of "
                         "the programs of mod_apppool have httpd's own form",
                         s->server_hostname ? s->server_hostname : "a server",
                         CONTRACT_FORMAT_MAX - 1);
}
