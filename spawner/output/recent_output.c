/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/output.h"

#include <stdlib.h>
#include <string.h>

#include "shm/view/view.h"
#include "base/privilege.h"

#define KEPT 16384      /* maximum bytes of an app */
#define LINE (KEPT / 4) /* of one line; the rest is left out */

typedef struct recent {
    struct recent *next_app;
    char *name; /* of the app: its key in the index */
    char text[KEPT];
    size_t length;
    uid_t uid; /* of the processes that printed it; USERDB_NOBODY: of none */
    uint64_t first, next; /* numbers of lines */
} recent_t;

static recent_t *all;
static apr_hash_t *by_name; /* of `all` */

static recent_t *find(const char *app)
{
    return by_name ? apr_hash_get(by_name, app, APR_HASH_KEY_STRING) : NULL;
}

static recent_t *make(const char *app)
{
    recent_t *r = calloc(1, sizeof *r);

    if (!by_name)
        by_name = apr_hash_make(state_spawner()->pool);
    if (r)
        r->name = strdup(app);
    if (!r || !r->name) {
        free(r);
        return NULL;
    }
    r->uid = USERDB_NOBODY;
    r->next_app = all;
    all = r;
    apr_hash_set(by_name, r->name, APR_HASH_KEY_STRING, r);
    return r;
}

/* Free more than this line needs, so that the text is not moved for each
 * line. */
static void make_room(recent_t *r, size_t length)
{
    size_t gone = 0;

    if (r->length + length <= KEPT)
        return;
    while (gone < r->length && r->length - gone + length > KEPT - LINE) {
        const char *from = r->text + gone;
        const char *end = memchr(from, '\n', r->length - gone);

        gone += (size_t)(end - from) + 1;
        r->first++;
    }
    r->length -= gone;
    memmove(r->text, r->text + gone, r->length);
}

static void belong(recent_t *r, uid_t uid)
{
    if (uid == USERDB_NOBODY || uid == r->uid)
        return; /* not known yet: the line is one of our own program */
    if (r->uid != USERDB_NOBODY) {
        r->length = 0;
        r->first = r->next;
    }
    r->uid = uid;
}

void recent_output_add(const process_t *p, const char *line, size_t length)
{
    recent_t *r = find(p->is.name);

    if (!r)
        r = make(p->is.name);
    if (!r)
        return;
    belong(r, p->is.uid);
    if (length >= LINE)
        length = LINE - 1;
    make_room(r, length + 1);
    memcpy(r->text + r->length, line, length);
    r->text[r->length + length] = '\n';
    r->length += length + 1;
    r->next++;
}

static json_t *line_of(const char *text, size_t length)
{
    char *copy = strndup(text, length);
    json_t *line = apl_report_text(copy ? copy : "");

    free(copy);
    return line;
}

json_t *recent_output_lines(const char *app, uint64_t from, uid_t only)
{
    const recent_t *kept = find(app);
    const recent_t *r =
        kept && (only == USERDB_NOBODY || only == kept->uid) ? kept : NULL;
    json_t *lines = json_array();
    uint64_t number = r ? r->first : 0, first;
    size_t at = 0;

    /* A number that was not given out yet comes from the last spawner. */
    if (!r || from > r->next)
        from = 0;
    first = from > number ? from : number;
    for (; r && at < r->length; number++) {
        const char *end = memchr(r->text + at, '\n', r->length - at);
        size_t n = (size_t)(end - r->text) - at;

        if (number >= from)
            json_array_append_new(lines, line_of(r->text + at, n));
        at += n + 1;
    }
    return json_pack("{s:I, s:I, s:o}", "first", (json_int_t)first, "next",
                     (json_int_t)number, "lines", lines);
}

void recent_output_sweep(const spawner_t *s)
{
    recent_t **at = &all, *r;

    while ((r = *at) != NULL) {
        if (app_table_find(s->table, r->name)) {
            at = &r->next_app;
            continue;
        }
        *at = r->next_app;
        apr_hash_set(by_name, r->name, APR_HASH_KEY_STRING, NULL);
        free(r->name);
        free(r);
    }
}
