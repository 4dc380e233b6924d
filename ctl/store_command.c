/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_command.h"

#include <stddef.h>
#include <string.h>

#include "ctl/ask.h"
#include "ctl/store.h"
#include "ctl/store_handover.h"
#include "ctl/store_space.h"

static int status(const char *dir, const asked_t *q)
{
    return store_status(dir, q->raw);
}

static int ready(const char *dir, const asked_t *q)
{
    return store_ready(dir, q->raw);
}

static int usable(const char *dir, const asked_t *q)
{
    return store_usable(dir, q->raw);
}

static int handover(const char *dir, const asked_t *q)
{
    return store_handover(dir, q->raw);
}

static int forget(const char *dir, const asked_t *q)
{
    return store_forget(dir, q->raw);
}

static int keys(const char *dir, const asked_t *q)
{
    return store_space_keys(dir, q->words[2], q->n > 3 ? q->words[3] : NULL,
                            q->raw);
}

static int flush(const char *dir, const asked_t *q)
{
    return store_space_flush(dir, q->words[2], q->raw);
}

static const struct {
    const char *word;
    int least, most; /* words, with "store" and this one */
    const char *needs;
    int (*act)(const char *dir, const asked_t *q);
} all[] = {
    {"status", 2, 2, NULL, status},
    {"top", 2, 2, NULL, NULL},
    {"ready", 2, 2, NULL, ready},
    {"usable", 2, 2, NULL, usable},
    {"handover", 2, 2, NULL, handover},
    {"forget", 2, 2, NULL, forget},
    {"keys", 3, 4, "the name of a space", keys},
    {"flush", 3, 3, "the name of a space", flush},
};

int store_command(const asked_t *q)
{
    const char *word = q->n > 1 ? q->words[1] : "status", *dir = q->dir;
    size_t i = 0;
    int rv;

    while (strcmp(all[i].word, word) != 0)
        if (++i == sizeof all / sizeof *all)
            return ask_complain(EXIT_USAGE, "store does not know %s", word);
    if (all[i].needs && q->n < all[i].least)
        return ask_complain(EXIT_USAGE, "store %s needs %s", word,
                            all[i].needs);
    if (q->n > all[i].most)
        return ask_complain(EXIT_USAGE, "store %s does not take %s", word,
                            q->words[all[i].most]);
    if (q->seconds || q->times)
        return ask_complain(EXIT_USAGE, "store %s does not take %s", word,
                            q->seconds ? "--seconds" : "--times");
    rv = ask_directory(&dir);
    return rv == EXIT_OK ? all[i].act(dir, q) : rv;
}
