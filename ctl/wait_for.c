/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ask_server.h"
#include "ctl/values.h"
#include "shm/verbs/supervise.h"

#define PAUSE    0.25 /* s between two reports */
#define PATIENCE 30.0 /* s without a response; the spawner may have to start */
/* s: a process that dies within that time did not start */
#define STAYS    (APL_YOUNG / 1e6)

/* ---- time ---- */

static void pause_a_bit(void)
{
    static const struct timespec pause = {0, (long)(PAUSE * 1e9)};

    nanosleep(&pause, NULL);
}

/* ---- one report ---- */

/* The state of a wait: the app, and the processes that it had before. */
typedef struct {
    const await_t *how;
    char app[512];
    json_t *old;  /* ids of the processes from before */
    double since; /* when everything became right; 0: not yet */
    int left;     /* processes from before that still get requests */
    int fresh;    /* new processes */
    json_int_t starting;
    char error_id[32]; /* of the last start that failed before the command */
    char error[1700];  /* why it has failed */
    char slow[1200];   /* what is known of a start that lasts long; "" */
} wait_t;

enum { NOT_YET, OVER, FAILED };

/* @param group NULL: the pool has no such group */
typedef int judge_t(wait_t *w, const json_t *group);

/* @return 0: there is no response now */
static int ask_and_judge(wait_t *w, judge_t *judge, int *verdict)
{
    const char *words[] = {"status", w->app};
    const json_t *groups;
    char *response;
    json_t *o;

    if (ask_silently(w->how->dir, words, 2, &response) != 0)
        return 0;
    o = json_loads(response, 0, NULL);
    free(response);
    groups = json_object_get(o, "groups");
    if (groups)
        *verdict = judge(w, json_array_get(groups, 0));
    json_decref(o);
    return groups != NULL;
}

static void begin(wait_t *w, const await_t *how, json_t **response)
{
    *response = json_loads(how->response, 0, NULL);
    memset(w, 0, sizeof *w);
    w->how = how;
    w->old = json_object_get(*response, "old");
    /* Not values_text(): the name goes back to the server. */
    snprintf(w->app, sizeof w->app, "%s",
             json_string_value(json_object_get(*response, "app")));
}

/* Read reports until the wait is over. @param hope what the wait is for */
static int wait_for(wait_t *w, judge_t *judge, const char *hope)
{
    double start = values_clock(), responded = start,
           end = start + w->how->seconds;
    int verdict = NOT_YET;

    for (;;) {
        if (ask_and_judge(w, judge, &verdict))
            responded = values_clock();
        if (verdict == FAILED)
            return ask_complain(EXIT_NO, "%s", w->error);
        if (verdict == OVER)
            return EXIT_OK;
        if (values_clock() > responded + PATIENCE)
            return ask_complain(EXIT_NOT_RUNNING,
                                "the spawner of %s does not respond any more",
                                w->how->dir);
        if (w->how->seconds > 0 && values_clock() > end)
            return ask_complain(EXIT_NO, "after %g s %s%s", w->how->seconds,
                                hope, w->slow);
        pause_a_bit();
    }
}

/* ---- drain ---- */

static int judge_drained(wait_t *w, const json_t *group)
{
    if (!group || strcmp(values_text(group, "state"), "drained") != 0) {
        snprintf(w->error, sizeof w->error, "%s is not drained any more",
                 w->app);
        return FAILED;
    }
    return json_array_size(json_object_get(group, "processes")) == 0 ? OVER
                                                                     : NOT_YET;
}

int await_drained(const await_t *a)
{
    char hope[600];
    json_t *response;
    wait_t w;
    int status;

    begin(&w, a, &response);
    snprintf(hope, sizeof hope, "processes of %s are left", w.app);
    status = wait_for(&w, judge_drained, hope);
    if (status == EXIT_OK && !a->raw)
        printf("no process of %s is left\n", w.app);
    json_decref(response);
    return status;
}

/* ---- restart, start ---- */

static int is_old(const wait_t *w, const json_t *process)
{
    const char *id = json_string_value(json_object_get(process, "id")), *old;
    size_t i;

    for (i = 0; (old = json_string_value(json_array_get(w->old, i))); i++)
        if (id && strcmp(id, old) == 0)
            return 1;
    return 0;
}

static void count(wait_t *w, const json_t *group)
{
    const json_t *all = json_object_get(group, "processes"), *p;
    size_t i;

    w->left = w->fresh = 0;
    w->starting = values_number(group, "spawning");
    for (i = 0; (p = json_array_get(all, i)) != NULL; i++) {
        const char *state = values_text(p, "state");
        int serves = strcmp(state, "idle") == 0 || strcmp(state, "busy") == 0 ||
                     strcmp(state, "hung") == 0;

        if (serves)
            *(is_old(w, p) ? &w->left : &w->fresh) += 1;
    }
}

static void note_slow_start(wait_t *w, const json_t *group)
{
    const json_t *slow = json_object_get(group, "slow_start");

    w->slow[0] = 0;
    if (json_is_object(slow))
        snprintf(w->slow, sizeof w->slow,
                 ": a start lasts for %.0f s: %s (error id %s)",
                 json_number_value(json_object_get(slow, "age")),
                 values_text(slow, "text"), values_text(slow, "id"));
}

static int note_error(wait_t *w, const json_t *group)
{
    if (group)
        snprintf(w->error_id, sizeof w->error_id, "%s",
                 values_text(group, "last_error_id"));
    return NOT_YET;
}

/* @return 1: what is waited for cannot come */
static int has_failed(wait_t *w, const json_t *group)
{
    const char *state = values_text(group, "state");

    if (strcmp(state, "failing") == 0 &&
        strcmp(values_text(group, "last_error_id"), w->error_id) == 0)
        return 0; /* no start has failed since the command */
    if (strcmp(state, "failing") == 0)
        snprintf(
            w->error, sizeof w->error, "%s did not start: %s (error id %s)%s",
            w->app, values_text(group, "last_error"),
            values_text(group, "last_error_id"),
            w->left > 0 ? "; the old code continues to serve requests" : "");
    else if (strcmp(state, "unkillable") == 0)
        snprintf(w->error, sizeof w->error,
                 "%s is not started: its processes survive SIGKILL", w->app);
    else if (strcmp(state, "drained") == 0 || strcmp(state, "removed") == 0)
        snprintf(w->error, sizeof w->error, "%s is %s", w->app, state);
    return w->error[0] != 0;
}

static void ask_to_start(const wait_t *w)
{
    const char *words[] = {"start", w->app};
    char *response;

    /* If the start is refused, the next report leads to another start. */
    if (ask_silently(w->how->dir, words, 2, &response) == 0)
        free(response);
}

static int judge_running(wait_t *w, const json_t *group)
{
    count(w, group);
    note_slow_start(w, group);
    if (group && has_failed(w, group))
        return FAILED;
    if (w->left + w->fresh + w->starting == 0)
        ask_to_start(w);
    if (w->left > 0 || w->fresh == 0 || w->starting > 0)
        w->since = 0;
    else if (w->since == 0)
        w->since = values_clock();
    return w->since > 0 && values_clock() >= w->since + STAYS ? OVER : NOT_YET;
}

int await_running(const await_t *a)
{
    char hope[700];
    json_t *response;
    wait_t w;
    int status;

    begin(&w, a, &response);
    ask_and_judge(&w, note_error, &status);
    snprintf(hope, sizeof hope,
             "%s does not run its new code in all processes yet", w.app);
    status = wait_for(&w, judge_running, hope);
    if (status == EXIT_OK && !a->raw)
        printf("%s: %d process%s of the new code serve%s\n", w.app, w.fresh,
               w.fresh == 1 ? "" : "es", w.fresh == 1 ? "s" : "");
    json_decref(response);
    return status;
}
