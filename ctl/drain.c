/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/drain.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/table.h"

#define PATIENCE 30 /* s without an answer; the spawner may have to start */

/* What the status says of an app; NULL: nothing. */
static const json_t *group_of(const json_t *status, const char *app)
{
    const json_t *groups = json_object_get(status, "groups"), *g;
    size_t i;

    for (i = 0; (g = json_array_get(groups, i)) != NULL; i++)
        if (strcmp(table_text(g, "name"), app) == 0)
            return g;
    return NULL;
}

/* @return EXIT_OK: *left processes are there; EXIT_NO: it is not drained any
 * more; EXIT_NOT_RUNNING: there is no answer */
static int look(const char *dir, const char *app, size_t *left)
{
    const json_t *g;
    json_t *o;
    int status = ask_status(dir, 1, &o);

    if (status != 0)
        return EXIT_NOT_RUNNING;
    /* The pool could not be read just now. */
    if (!json_object_get(o, "groups"))
        status = EXIT_NOT_RUNNING;
    else {
        g = group_of(o, app);
        status = g && strcmp(table_text(g, "state"), "drained") == 0 ? EXIT_OK
                                                                     : EXIT_NO;
        *left = json_array_size(json_object_get(g, "processes"));
    }
    json_decref(o);
    return status;
}

int drain_wait(const char *dir, const char *answer, int raw)
{
    json_t *o = json_loads(answer, 0, NULL);
    char name[512];
    size_t left = 1;
    int status, silent = 0;

    snprintf(name, sizeof name, "%s", table_text(o, "app"));
    json_decref(o);
    for (;;) {
        status = look(dir, name, &left);
        if (status == EXIT_OK && left == 0)
            break;
        if (status == EXIT_NO)
            return ask_complain(EXIT_NO, "%s is not drained any more", name);
        silent = status == EXIT_OK ? 0 : silent + 1;
        if (silent > PATIENCE)
            return ask_complain(EXIT_NOT_RUNNING,
                                "the spawner of %s does not answer any more",
                                dir);
        sleep(1);
    }
    if (!raw)
        printf("no process of %s is left\n", name);
    return EXIT_OK;
}
