/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "spawner/output/output.h"
#include "spawner/process/process.h"
#include "base/userdb.h"

/* The copy takes the same route as the app's output. */
typedef struct {
    const char *route, *format;
    int raw;
    uid_t uid;
    gid_t gid;
} where_t;

static void copy(const where_t *to, int level, const char *text)
{
    const log_message_t message = {level, "", text, strlen(text)};
    char line[LOG_LINE_MAX];
    int to_errorlog = to->route && *to->route == LOG_PROGRAM_ERRORLOG;
    log_writer_t *w;
    size_t n;

    if (!to->route || (to->raw && !to_errorlog) ||
        !log_writer_can_send(to->route, to->uid))
        return;
    if (to_errorlog)
        n = log_format_line(to->format, &message, line, sizeof line - 1);
    else
        n = log_format_bare(&message, line, sizeof line - 1);
    line[n++] = '\n';
    w = log_writer_get(to->route, to->raw, to->uid, to->gid);
    if (w)
        log_writer_send(w, line, n, 1);
    log_writer_put(w);
}

void app_log_of(log_kind_t *kind, const process_t *p, int level,
                const char *format, ...)
{
    const where_t to = {p->app.log, p->app.error_format, p->app.log_raw,
                        p->is.uid, p->is.gid};
    char text[LOG_MAX];
    va_list args;
    int n;

    if (!log_has(level))
        return;
    n = snprintf(text, sizeof text, PROCESS_FMT " ", PROCESS_NAME(p));
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    if (log_text_of(kind, level, text))
        copy(&to, level, text);
}

/* A file is opened as the app's user. Find a process that runs as that user,
 * because it knows the group. Other processes may be of an earlier
 * configuration. */
static where_t where_of(const app_entry_t *a)
{
    where_t to = {NULL, NULL, 0, USERDB_NOBODY, (gid_t)-1};
    const process_t *p = a ? state_spawner()->processes : NULL;

    if (a) {
        to.route = a->log;
        to.format = a->error_format;
        to.raw = a->log_raw;
    }
    while (p && (p->is.uid != a->uid || strcmp(p->is.name, a->app.name)))
        p = p->next;
    if (p) {
        to.uid = p->is.uid;
        to.gid = p->is.gid;
    }
    return to;
}

void app_log_about_of(log_kind_t *kind, const app_entry_t *a, int level,
                      const char *format, ...)
{
    const where_t to = where_of(a);
    char text[LOG_MAX];
    va_list args;

    if (!log_has(level))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (log_text_of(kind, level, text))
        copy(&to, level, text);
}
