/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/command_list.h"

#include <string.h>

#include "spawner/control/command_app.h"
#include "spawner/control/command_host.h"
#include "spawner/control/command_view.h"
#include "spawner/control/command_process.h"

/* EVERYBODY: also users of apps. They can name only the apps that they own. */
enum { ROOT, EVERYBODY };

static const struct {
    const char *word;
    json_t *(*run)(command_t *q);
    int least, most; /* number of words that follow */
    int users;
} commands[] = {
    {"status", command_view_status, 0, 1, EVERYBODY},
    {"restart", command_app_restart, 2, 2, EVERYBODY},
    {"start", command_app_start, 1, 1, EVERYBODY},
    {"logs", command_app_logs, 1, 2, EVERYBODY},
    {"report", command_view_report, 1, 1, EVERYBODY},
    {"check", command_view_check, 0, 0, ROOT},
    {"detach", command_process_detach, 1, 1, ROOT},
    {"kill", command_process_kill, 1, 1, ROOT},
    {"drain", command_app_drain, 1, 1, ROOT},
    {"show", command_app_show, 1, 1, ROOT},
    {"out", command_host_out, 0, 0, ROOT},
    {"in", command_host_in, 0, 0, ROOT},
};

static json_t *decide(command_t *q)
{
    size_t i;

    for (i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(q->words[0], commands[i].word) != 0)
            continue;
        if (commands[i].users == ROOT && !q->user.is_root)
            return command_refuse(q, "only root may use %s", commands[i].word);
        if (q->n - 1 < commands[i].least || q->n - 1 > commands[i].most)
            return command_refuse(q, "%s takes at most %d words, not %d",
                                  commands[i].word, commands[i].most, q->n - 1);
        return commands[i].run(q);
    }
    return command_refuse(q, "there is no such command");
}

json_t *command_list_run(spawner_t *s, char *line, size_t length,
                         const command_client_t *user,
                         status_job_order_t *order)
{
    command_t q = {.s = s, .user = *user};
    json_t *o;
    size_t i;

    memset(order, 0, sizeof *order);
    memset(&q.order, 0, sizeof q.order);
    line[length] = 0;
    q.words[q.n++] = line;
    for (i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];

        if (c == '\t') {
            if (q.n == COMMAND_WORDS)
                return command_error("the command has too many words");
            line[i] = 0;
            q.words[q.n++] = line + i + 1;
        }
        else if (c < 0x20 || c == 0x7f)
            return command_error("the command contains a control character");
    }
    apr_pool_create(&q.p, s->pool);
    o = decide(&q);
    apr_pool_destroy(q.p);
    *order = q.order;
    /* A text that is not UTF-8 cannot be a part of the response. */
    return o || order->make
               ? o
               : command_error("the response cannot be written as JSON");
}
