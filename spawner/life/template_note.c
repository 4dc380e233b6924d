/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/life/template_note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static template_note_t *notes;

static template_note_t *find(const char *app)
{
    template_note_t *n;

    for (n = notes; n; n = n->next)
        if (strcmp(n->app, app) == 0)
            return n;
    return NULL;
}

const template_note_t *template_note_find(const char *app)
{
    return find(app);
}

/* @return NULL: no memory */
static template_note_t *find_or_add(const char *app)
{
    template_note_t *n = find(app);

    if (n)
        return n;
    n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    snprintf(n->app, sizeof n->app, "%s", app);
    n->next = notes;
    notes = n;
    return n;
}

static int is_about(const template_note_t *n, const process_t *t)
{
    return n->code == t->template.code && n->print == t->is.print;
}

static template_note_t *note(const process_t *t, int says)
{
    template_note_t *n = find_or_add(t->is.name);

    if (!n)
        return NULL;
    if (!is_about(n, t)) {
        n->broken_at = 0;
        n->fruitless = 0;
    }
    n->says = says;
    n->code = t->template.code;
    n->print = t->is.print;
    n->preload = t->template.preload;
    return n;
}

void template_note_refuse(const process_t *t)
{
    note(t, TEMPLATE_NOTE_REFUSED);
}

void template_note_broken(const process_t *t, int64_t now)
{
    template_note_t *n = note(t, TEMPLATE_NOTE_BROKEN);

    if (n)
        n->broken_at = now;
}

void template_note_executed(const char *app)
{
    template_note_t *n = find(app);

    if (n && n->says == TEMPLATE_NOTE_BROKEN)
        n->says = TEMPLATE_NOTE_NOTHING;
}

int template_note_death(const process_t *t, int64_t now)
{
    template_note_t *n = find_or_add(t->is.name);
    int64_t oldest;

    if (!n)
        return 0;
    n->deaths[n->died++ % TEMPLATE_NOTE_DEATHS] = now;
    oldest = n->deaths[n->died % TEMPLATE_NOTE_DEATHS];
    if (oldest == 0 || now - oldest > TEMPLATE_NOTE_PERIOD)
        return 0;
    memset(n->deaths, 0, sizeof n->deaths);
    template_note_refuse(t);
    return 1;
}

int template_note_fruitless(const process_t *t)
{
    const template_note_t *old = find(t->is.name);
    template_note_t *n =
        note(t, old && is_about(old, t) ? old->says : TEMPLATE_NOTE_NOTHING);

    if (!n || ++n->fruitless < TEMPLATE_NOTE_FRUITLESS)
        return 0;
    n->says = TEMPLATE_NOTE_REFUSED;
    return 1;
}

void template_note_forked(const process_t *t)
{
    template_note_t *n = find(t->is.name);

    if (n && is_about(n, t))
        n->fruitless = 0;
}

void template_note_sweep(const spawner_t *s)
{
    template_note_t **at = &notes, *n;

    while ((n = *at) != NULL)
        if (app_table_find(s->table, n->app))
            at = &n->next;
        else {
            *at = n->next;
            free(n);
        }
}
