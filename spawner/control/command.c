/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <apr_strings.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/privilege.h"
#include "base/app_word.h"
#include "spawner/process/process.h"

#define ID_MIN    4 /* digits of an id */
#define SHOWN_MAX 8 /* names that a refusal lists */

json_t *command_error(const char *sentence)
{
    return json_pack("{s:s}", "error", sentence);
}

json_t *command_refuse(const command_t *q, const char *format, ...)
{
    va_list args;
    json_t *o;

    va_start(args, format);
    o = command_error(apr_pvsprintf(q->p, format, args));
    va_end(args);
    return o;
}

json_t *command_refuse_busy(const command_t *q)
{
    return command_refuse(q, "the pool is locked at the moment; try again");
}

const char *command_by(const command_t *q)
{
    return q->user.is_root ? "apppoolctl"
                           : apr_psprintf(q->p, "apppoolctl, user %u",
                                          (unsigned)q->user.uid);
}

int command_may(const command_client_t *user, const app_entry_t *a)
{
    return user->is_root ||
           (a && a->uid != USERDB_NOBODY && a->uid == user->uid);
}

/* ---- an app ---- */

/* "/srv/shop (production)", ... */
static const char *list_apps(const command_t *q)
{
    const app_table_t *t = q->s->table;
    const char *text = "";
    uint32_t i, n = 0;

    for (i = 0; i < t->n; i++)
        if (command_may(&q->user, &t->apps[i]) && n++ < SHOWN_MAX)
            text = apr_psprintf(q->p, "%s%s\"%s\"", text, n > 1 ? ", " : "",
                                t->apps[i].app.name);
    if (n == 0)
        return "there is none";
    if (n > SHOWN_MAX)
        text = apr_psprintf(q->p, "%s and %u more", text, n - SHOWN_MAX);
    return apr_pstrcat(q->p, "there is ", text, NULL);
}

/* Find an app by its name, its AppRoot, its label or the end of its label.
 * @return NULL: there is none, or more than one */
static const app_entry_t *find_app(const command_t *q, const char *word,
                                   int *several)
{
    const app_table_t *t = q->s->table;
    const app_entry_t *found = app_table_find(t, word);
    uint32_t i;

    *several = 0;
    if (found && command_may(&q->user, found))
        return found;
    for (i = 0, found = NULL; i < t->n; i++) {
        const app_entry_t *a = &t->apps[i];

        if (!command_may(&q->user, a))
            continue;
        if (strcmp(a->label, word) == 0) {
            *several = 0;
            return a;
        }
        if (strcmp(a->app.root, word) != 0 && !app_word_is_end(word, a->label))
            continue;
        *several |= found != NULL;
        found = a;
    }
    return *several ? NULL : found;
}

const app_entry_t *command_find_app(const command_t *q, json_t **refusal)
{
    const char *word = q->words[1];
    int several;
    const app_entry_t *a = find_app(q, word, &several);

    if (!a)
        *refusal = command_refuse(q, "%s app has the name %s: %s",
                                  several ? "more than one" : "no", word,
                                  list_apps(q));
    return a;
}

/* ---- a process ---- */

static int is_id(const char *word)
{
    size_t n = strlen(word);

    return n >= ID_MIN && n <= 16 && strspn(word, "0123456789abcdef") == n;
}

/* An app can get another user while processes of the old user still run. */
static int is_named(const command_t *q, const process_t *p)
{
    return !p->gone && !p->done && !state_is_template(p) &&
           (q->user.is_root || p->is.uid == q->user.uid) &&
           command_may(&q->user, app_table_find(q->s->table, p->is.name));
}

/* The processes that this user may name: "shop[4711] 0123456789abcdef, ..." */
static const char *list_processes(const command_t *q)
{
    const char *text = "";
    const process_t *p;
    int n = 0;

    for (p = q->s->processes; p; p = p->next) {
        if (!is_named(q, p) || n++ >= SHOWN_MAX)
            continue;
        text = apr_psprintf(q->p, "%s%s" PROCESS_FMT " " CONTRACT_ID_FMT, text,
                            n > 1 ? ", " : "", PROCESS_NAME(p), p->is.id);
    }
    if (n == 0)
        return "none runs";
    if (n > SHOWN_MAX)
        text = apr_psprintf(q->p, "%s and %d more", text, n - SHOWN_MAX);
    return apr_pstrcat(q->p, "there is ", text, NULL);
}

/* The process whose id begins with this. @return NULL: there is none, or more
 * than one */
static process_t *find_process(const command_t *q, const char *word,
                               int *several)
{
    process_t *p, *found = NULL;
    char id[17];

    *several = 0;
    for (p = q->s->processes; p; p = p->next) {
        snprintf(id, sizeof id, CONTRACT_ID_FMT, p->is.id);
        if (!is_named(q, p) || strncmp(id, word, strlen(word)) != 0)
            continue;
        *several = found != NULL;
        found = p;
    }
    return *several ? NULL : found;
}

process_t *command_find_process(const command_t *q, json_t **refusal)
{
    const char *word = q->words[1];
    process_t *p;
    int several;

    if (!is_id(word)) {
        *refusal =
            command_refuse(q,
                           "%s is not a process id: %d to 16 hexadecimal "
                           "digits, as the status shows them",
                           word, ID_MIN);
        return NULL;
    }
    p = find_process(q, word, &several);
    if (!p)
        *refusal = several
                       ? command_refuse(
                             q, "more than one process id begins with %s", word)
                       : command_refuse(q, "no process has the id %s: %s", word,
                                        list_processes(q));
    return p;
}
