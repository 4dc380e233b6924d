/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ask.h"
#include "ctl/status_table.h"
#include "base/app_word.h"

/* Not table_text(): it is compared with others, and goes back to the store. */
static const char *name_of(const json_t *spaces, size_t i)
{
    const char *name =
        json_string_value(json_object_get(json_array_get(spaces, i), "name"));

    return name ? name : "";
}

static int give(const char *name, char **space)
{
    *space = strdup(name);
    return *space ? EXIT_OK : ask_complain(EXIT_NO, "%s", strerror(errno));
}

/* After a sentence that ends with a colon. @return EXIT_NO */
static int list(const json_t *spaces)
{
    size_t i;

    for (i = 0; i < json_array_size(spaces); i++)
        fprintf(stderr, "  %s\n",
                table_text(json_array_get(spaces, i), "name"));
    return EXIT_NO;
}

static int find_by_word(const json_t *spaces, const char *word, char **space)
{
    const char *found = NULL;
    size_t i, n = 0;

    for (i = 0; i < json_array_size(spaces); i++) {
        const char *name = name_of(spaces, i);

        if (strcmp(name, word) == 0)
            return give(name, space);
        if (app_word_is_end(word, name)) {
            found = name;
            n++;
        }
    }
    if (n == 1)
        return give(found, space);
    if (json_array_size(spaces) == 0)
        return ask_complain(
            EXIT_NO, "there is no space %s: the store has no space", word);
    ask_complain(EXIT_NO,
                 n > 1 ? "there is more than one space %s:"
                       : "there is no space %s; the spaces are:",
                 word);
    return list(spaces);
}

/* A store that begins shows one space after the other. */
static int is_ready(const json_t *store)
{
    return json_real_value(json_object_get(store, "recovery")) > 0;
}

int store_name_find(const char *dir, const char *word, char **space)
{
    const json_t *store;
    json_t *report;
    int status;

    ask_status(dir, 1,
               &report); /* of everything, or of what this user may see */
    store = json_object_get(report, "store");
    status = is_ready(store)
                 ? find_by_word(json_object_get(store, "spaces"), word, space)
                 : give(word, space);
    json_decref(report);
    return status;
}
