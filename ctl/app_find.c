/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/app_word.h"
#include "ctl/values.h"

#define LETTERS 256 /* of a name that are compared */

const json_t *app_find(const json_t *configured, const char *word, int *several)
{
    const json_t *a, *found = NULL;
    size_t i;

    *several = 0;
    for (i = 0; (a = json_array_get(configured, i)) != NULL; i++)
        if (strcmp(values_word(a, "name"), word) == 0 ||
            strcmp(values_word(a, "label"), word) == 0)
            return a;
    for (i = 0; (a = json_array_get(configured, i)) != NULL; i++) {
        if (strcmp(values_word(a, "app_root"), word) != 0 &&
            !app_word_is_end(word, values_word(a, "label")))
            continue;
        *several |= found != NULL;
        found = a;
    }
    return *several ? NULL : found;
}

/* ---- the nearest names ---- */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters have to be changed, put in or left out (Levenshtein). */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[LETTERS + 1], i, j;
    size_t n = strlen(b);

    if (n > LETTERS)
        n = LETTERS;
    for (j = 0; j <= n; j++)
        row[j] = j;
    for (i = 1; *a; a++, i++) {
        unsigned corner = row[0];

        row[0] = i;
        for (j = 1; j <= n; j++) {
            unsigned replaced = corner + (*a != b[j - 1]);

            corner = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[n];
}

/* The best of what a word may be: the label, its last part, or AppRoot. */
static unsigned distance_of(const json_t *app, const char *word)
{
    const char *label = values_word(app, "label"), *end = strrchr(label, '/');
    unsigned d = distance(word, label);

    if (end)
        d = least(d, distance(word, end + 1));
    return least(d, distance(word, values_word(app, "app_root")));
}

size_t app_find_nearest(const json_t *configured, const char *word,
                        const json_t *to[APP_FIND_NEAREST])
{
    unsigned far[APP_FIND_NEAREST], d;
    size_t n = 0, i, at;
    const json_t *a;

    for (i = 0; (a = json_array_get(configured, i)) != NULL; i++) {
        d = distance_of(a, word);
        if (d > 1 + strlen(word) / 3)
            continue;
        for (at = n; at > 0 && far[at - 1] > d; at--)
            if (at < APP_FIND_NEAREST) {
                far[at] = far[at - 1];
                to[at] = to[at - 1];
            }
        if (at == APP_FIND_NEAREST)
            continue;
        far[at] = d;
        to[at] = a;
        n += n < APP_FIND_NEAREST;
    }
    return n;
}
