/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <stdio.h>
#include <string.h>

#include "ctl/values.h"

/* In the texts, %a is the app, and %p is a process. */

static const char HUNG[] =
    "apppoolctl report %p shows what it does; apppoolctl kill %p ends it with "
    "its requests, and AppKillAfter does so by itself";

static const char *of_a_queue(const json_t *report, const json_t *g)
{
    const json_t *pool = json_object_get(report, "pool");
    json_int_t size = values_number(g, "size"), max = values_number(g, "max");

    if (values_number(json_object_get(g, "states"), "hung") == size && size > 0)
        return HUNG;
    if (values_number(g, "spawning") > 0)
        return "apppoolctl logs %a shows what the start has printed";
    if (max > 0 && size >= max)
        return "apppoolctl status %a shows the requests; if they are not slow, "
               "raise MaxInstances";
    if (pool && values_number(pool, "count") >= values_number(pool, "max"))
        return "apppoolctl top shows which applications have the processes; "
               "raise MaxPoolSize if the host has the memory";
    return "apppoolctl status %a shows the requests";
}

/* What the sentence of a failed start has in it. */
static const struct {
    const char *part, *text;
} starts[] = {{"AppRoot ", "deploy the application there, or correct AppRoot"},
              {"AppEnvFile ", "put the file there, or correct AppEnvFile"},
              {" was not found", "install it, or correct AppCommand"},
              {" may not be executed", "make it executable: chmod +x"}};

static const char *of_a_start(const json_t *g)
{
    const char *error = json_string_value(json_object_get(g, "last_error"));
    size_t i;

    for (i = 0; error && i < sizeof starts / sizeof *starts; i++)
        if (strstr(error, starts[i].part))
            return starts[i].text;
    return "apppoolctl logs %a shows what it has printed; after a change, "
           "apppoolctl restart %a tries it at once";
}

static const struct {
    const char *kind, *text;
} texts[] = {
    {"spawner",
     "apppoolctl doctor looks at the programs; the error log says why it does "
     "not work"},
    {"unkillable",
     "apppoolctl report %p shows what it waits for in the kernel, such as a "
     "disk or a file server"},
    {"hung", HUNG},
    {"errors",
     "apppoolctl logs %a and the error log say why; apppoolctl events shows "
     "the processes that died"},
    {"starting",
     "apppoolctl logs %a shows what it has printed; AppStartTimeout ends a "
     "start that is not ready in time"},
    {"drained", "apppoolctl restart %a puts it back into service"},
    {"store", "apppoolctl store shows the store; the error log says why"},
    {"out", "apppoolctl in takes it back in"}};

static const char *text_for(const json_t *report, const json_t *group,
                            const char *kind)
{
    size_t i;

    if (strcmp(kind, "failing") == 0)
        return of_a_start(group);
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].kind, kind) == 0)
            return texts[i].text;
    return of_a_queue(report, group);
}

/* The id of the first process that is hung or unkillable. */
static const char *process_of(const json_t *group)
{
    const json_t *all = json_object_get(group, "processes"), *p;
    size_t i;

    for (i = 0; (p = json_array_get(all, i)) != NULL; i++) {
        const char *state = values_text(p, "state");

        if (strcmp(state, "hung") == 0 || strcmp(state, "unkillable") == 0)
            return values_text(p, "id");
    }
    return "ID";
}

/* The name as one word of the shell. */
static const char *quoted(const char *name, char to[ADVICE_MAX])
{
    char *at = to, *end = to + ADVICE_MAX - 6;

    if (*name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_./-@"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(name))
        return name;
    *at++ = '\'';
    for (; *name && at < end; name++)
        if (*name == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        }
        else
            *at++ = *name;
    *at++ = '\'';
    *at = 0;
    return to;
}

const char *advice_for(const json_t *report, const json_t *group,
                       const char *kind, const char *label, char to[ADVICE_MAX])
{
    const char *text = text_for(report, group, kind);
    char word[ADVICE_MAX];
    size_t n = 0;

    label = quoted(label, word);
    for (; *text && n + 1 < ADVICE_MAX; text++) {
        if (*text != '%') {
            to[n++] = *text;
            continue;
        }
        text++;
        snprintf(to + n, ADVICE_MAX - n, "%s",
                 *text == 'a' ? label : process_of(group));
        n += strlen(to + n);
    }
    to[n] = 0;
    return to;
}
