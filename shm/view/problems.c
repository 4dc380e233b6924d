/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sentence.h"
#include "shm/verbs/wait_facts.h"
#include "shm/view/view.h"

#define LISTED 3 /* of a list */

/* ---- values ---- */

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static double real(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const char *word(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

static int is(const json_t *o, const char *key, const char *what)
{
    return strcmp(word(o, key), what) == 0;
}

static json_int_t state(const json_t *g, const char *key)
{
    return number(json_object_get(g, "states"), key);
}

/* ---- a sentence ---- */

/* "1 request waits", "2 requests wait" */
static void say_count(sentence_t *s, json_int_t n, const char *one,
                      const char *many)
{
    sentence_add(s, "%lld %s", (long long)n, n == 1 ? one : many);
}

/* ---- the list ---- */

/* The worst first; but mild ones come after all others. */
typedef enum {
    SPAWNER,
    FAILING,
    UNKILLABLE,
    FULL,
    HUNG,
    QUEUEING,
    ERRORS,
    STARTING,
    DRAINED,
    STORE,
    OUT,
    KINDS
} kind_t;

static const char *const kind_words[KINDS] = {[SPAWNER] = "spawner",
                                              [FAILING] = "failing",
                                              [UNKILLABLE] = "unkillable",
                                              [FULL] = "full",
                                              [HUNG] = "hung",
                                              [QUEUEING] = "queueing",
                                              [ERRORS] = "errors",
                                              [STARTING] = "starting",
                                              [DRAINED] = "drained",
                                              [STORE] = "store",
                                              [OUT] = "out"};

typedef struct {
    const json_t *report;
    json_t *of[KINDS][2]; /* problems of a kind; [1]: mild ones */
} list_t;

/* @param mild 1: requests are served in spite of it, or an administrator wants
 * it so */
static void add(list_t *l, const json_t *group, kind_t kind, int mild,
                const sentence_t *s)
{
    json_t *o = json_object(), *name = json_object_get(group, "name");

    if (name)
        json_object_set(o, "app", name);
    else
        json_object_set_new(o, "app", json_null());
    json_object_set_new(o, "kind", json_string(kind_words[kind]));
    json_object_set_new(o, "text", apl_report_text(s->text));
    json_array_append_new(l->of[kind][mild], o);
}

/* ---- of an app ---- */

static void look_for_failing(list_t *l, const json_t *g)
{
    const char *error = word(g, "last_error");
    json_int_t size = number(g, "size");
    sentence_t s = {.n = 0};

    if (!is(g, "state", "failing"))
        return;
    sentence_add(&s, "%s",
                 size > 0 ? "new processes do not start" : "it does not start");
    if (*error)
        sentence_add(&s, ": %s", error);
    if (size > 0) {
        sentence_add(&s, "; ");
        say_count(&s, size, "process", "processes");
        sentence_add(&s, "%s %s requests",
                     number(g, "outdated") > 0 ? " of the old code" : "",
                     size == 1 ? "serves" : "serve");
    }
    add(l, g, FAILING, size > 0, &s);
}

static void look_for_unkillable(list_t *l, const json_t *g)
{
    json_int_t n = state(g, "unkillable");
    int stops = is(g, "state", "unkillable");
    sentence_t s = {.n = 0};

    if (n == 0 && !stops)
        return;
    say_count(&s, n, "process survives", "processes survive");
    sentence_add(
        &s, " SIGKILL%s",
        stops ? ", more than AppMaxUnkillable allows: nothing is started" : "");
    add(l, g, UNKILLABLE, !stops || number(g, "size") > 0, &s);
}

static void look_for_drained(list_t *l, const json_t *g)
{
    sentence_t s = {.n = 0};

    if (!is(g, "state", "drained"))
        return;
    sentence_add(
        &s, "it is drained: all requests get 503 until apppoolctl restart");
    add(l, g, DRAINED, 1, &s);
}

/* The oldest request in this state. @return NULL: there is none */
static const json_t *oldest(const json_t *g, const char *in)
{
    const json_t *requests = json_object_get(g, "requests"), *r, *old = NULL;
    size_t i;

    for (i = 0; (r = json_array_get(requests, i)) != NULL; i++)
        if (is(r, "state", in) && (!old || real(r, "age") > real(old, "age")))
            old = r;
    return old;
}

static void look_for_hung(list_t *l, const json_t *g)
{
    json_int_t n = state(g, "hung"), size = number(g, "size");
    const json_t *old = oldest(g, "hung");
    sentence_t s = {.n = 0};

    if (n == 0)
        return;
    if (n == size)
        sentence_add(&s, "%s", n == 1 ? "its only process is hung" : "all ");
    if (n > 1 || n != size) {
        say_count(&s, n, "process", "processes");
        if (n != size)
            sentence_add(&s, " of %lld", (long long)size);
        sentence_add(&s, n == 1 ? " is hung" : " are hung");
    }
    if (old)
        sentence_add(
            &s, ": the oldest request has had its process for %.0f s: %s %s",
            real(old, "age"), word(old, "method"), word(old, "uri"));
    add(l, g, HUNG, n != size, &s);
}

/* If a start lasts long. */
static void say_slow_start(sentence_t *s, const json_t *g)
{
    const json_t *slow = json_object_get(g, "slow_start");

    if (!json_is_object(slow))
        return;
    sentence_add(s, "a start lasts for %.0f s", real(slow, "age"));
    if (*word(slow, "text"))
        sentence_add(s, ": %s", word(slow, "text"));
}

/* @return MaxPoolSize, if the pool has no room for one more process; else 0 */
static uint32_t pool_limit(const json_t *pool)
{
    json_int_t max = number(pool, "max");

    return max > 0 && number(pool, "count") + number(pool, "spawning") >= max
               ? (uint32_t)max
               : 0;
}

static void say_why_waiting(sentence_t *s, const json_t *report,
                            const json_t *g)
{
    json_int_t size = number(g, "size"), max = number(g, "max");
    const apl_wait_facts_t facts = {
        .processes = (uint32_t)size,
        .hung = (uint32_t)state(g, "hung"),
        .starting = (uint32_t)number(g, "spawning"),
        .app_max = max > 0 && size >= max ? (uint32_t)max : 0,
        .pool_max = pool_limit(json_object_get(report, "pool"))};
    sentence_t start = {.n = 0};

    say_slow_start(&start, g);
    apl_wait_facts_say(s, &facts, start.text);
}

static void look_for_queue(list_t *l, const json_t *g)
{
    json_int_t n = number(g, "queue"), most = number(g, "max_queue");
    const json_t *first = oldest(g, "waiting");
    int full = most > 0 && n >= most;
    sentence_t s = {.n = 0};

    if (n == 0 || is(g, "state", "drained") ||
        (!full && real(first, "age") < APL_PROBLEM_WAIT))
        return;
    if (full)
        sentence_add(
            &s,
            "the queue is full (AppMaxQueue %lld), and more requests get "
            "503: ",
            (long long)most);
    say_count(&s, n, "request waits", "requests wait");
    if (first)
        sentence_add(&s, n == 1 ? ", for %.0f s" : ", the first one for %.0f s",
                     real(first, "age"));
    sentence_add(&s, ": ");
    say_why_waiting(&s, l->report, g);
    add(l, g, full ? FULL : QUEUEING, 0, &s);
}

/* If requests wait for it, it is part of another problem. */
static void look_for_slow_start(list_t *l, const json_t *g)
{
    const json_t *slow = json_object_get(g, "slow_start");
    int serves = number(g, "size") > 0;
    sentence_t s = {.n = 0};

    if (!json_is_object(slow) ||
        real(slow, "age") <
            (serves ? APL_PROBLEM_RESTART : APL_PROBLEM_START) ||
        number(g, "queue") > 0 || is(g, "state", "failing"))
        return;
    say_slow_start(&s, g);
    add(l, g, STARTING, serves, &s);
}

static void look_for_errors(list_t *l, const json_t *g)
{
    const json_t *minute = json_object_get(json_object_get(g, "recent"), "1m");
    json_int_t errors = number(minute, "errors");
    json_int_t all = number(minute, "requests");
    sentence_t s = {.n = 0};

    if (errors < APL_PROBLEM_ERRORS ||
        (double)errors <= APL_PROBLEM_PART * (double)all)
        return;
    sentence_add(&s,
                 "%lld of %lld requests of the last minute got an error (5xx)",
                 (long long)errors, (long long)(all > errors ? all : errors));
    add(l, g, ERRORS, 0, &s);
}

static void look_at_group(list_t *l, const json_t *g)
{
    look_for_failing(l, g);
    look_for_unkillable(l, g);
    look_for_queue(l, g);
    look_for_hung(l, g);
    look_for_errors(l, g);
    look_for_slow_start(l, g);
    look_for_drained(l, g);
}

/* ---- of the host ---- */

static void look_at_spawner(list_t *l)
{
    double age = real(json_object_get(l->report, "pool"), "spawner_age");
    sentence_t s = {.n = 0};

    if (age < APL_PROBLEM_SPAWNER)
        return;
    sentence_add(
        &s,
        "the spawner has done nothing for %.0f s: processes are neither "
        "started nor ended",
        age);
    add(l, NULL, SPAWNER, 0, &s);
}

/* No room for one more process, while a request of some app waits and has
 * none. */
static void look_at_pool(list_t *l)
{
    const json_t *pool = json_object_get(l->report, "pool");
    const json_int_t count = number(pool, "count");
    const apl_wait_facts_t busy = {
        .processes = (uint32_t)count,
        .starting = count == 0 ? (uint32_t)number(pool, "spawning") : 0};
    sentence_t s = {.n = 0};

    if (json_is_true(json_object_get(pool, "out"))) {
        sentence_add(&s, "it is out of its load balancer (apppool-health says "
                         "503) until apppoolctl in");
        add(l, NULL, OUT, 1, &s);
        s.n = 0;
    }
    if (pool_limit(pool) == 0 || number(pool, "waiting") == 0 ||
        number(pool, "active") < number(pool, "count"))
        return;
    sentence_add(&s, "the pool is full (MaxPoolSize %u), ", pool_limit(pool));
    apl_wait_facts_say(&s, &busy, "");
    sentence_add(&s, ", and ");
    say_count(&s, number(pool, "waiting"), "request waits", "requests wait");
    add(l, NULL, FULL, 1, &s);
}

static void look_at_spaces(list_t *l, const json_t *store)
{
    const json_t *spaces = json_object_get(store, "spaces"), *space;
    size_t i;

    for (i = 0; (space = json_array_get(spaces, i)) != NULL; i++) {
        json_int_t most = number(space, "max_connections");
        sentence_t s = {.n = 0};

        if (most == 0 || number(space, "connections") < most)
            continue;
        sentence_add(&s, "the space %s of the store has ", word(space, "name"));
        say_count(&s, most, "connection", "connections");
        sentence_add(&s, ", and more are refused");
        add(l, NULL, STORE, 0, &s);
    }
}

static void look_at_store(list_t *l)
{
    static const struct {
        const char *reason, *text;
    } texts[] = {{"incomplete", "it has a part of a copy"},
                 {"better elsewhere", "another host has better data"},
                 {"stale", "its copy is old"},
                 {"other", "it does not say why"}};
    const json_t *store = json_object_get(l->report, "store");
    const json_t *cluster = json_object_get(store, "cluster");
    json_int_t missing = number(store, "missing_listeners");
    sentence_t s = {.n = 0}, m = {.n = 0};
    size_t i;

    if (json_is_false(json_object_get(store, "alive"))) {
        sentence_add(&s, "the store does not run");
        add(l, NULL, STORE, 0, &s);
    }
    else if (json_is_false(json_object_get(cluster, "ready"))) {
        sentence_add(&s, "the store is not ready to be the master");
        for (i = 0; i < sizeof texts / sizeof *texts; i++)
            if (is(cluster, "reason", texts[i].reason))
                sentence_add(&s, ": %s", texts[i].text);
        add(l, NULL, STORE, 1, &s);
    }
    if (missing > 0) {
        sentence_add(&m, "the store cannot listen at ");
        say_count(&m, missing, "address", "addresses");
        sentence_add(&m, ", which the error log names");
        add(l, NULL, STORE, 1, &m);
    }
    look_at_spaces(l, store);
}

json_t *apl_report_problems(const json_t *report)
{
    const json_t *groups = json_object_get(report, "groups"), *g;
    json_t *all = json_array();
    list_t l = {.report = report};
    size_t i;
    int k;

    for (k = 0; k < 2 * KINDS; k++)
        l.of[k % KINDS][k / KINDS] = json_array();
    look_at_spawner(&l);
    look_at_pool(&l);
    look_at_store(&l);
    for (i = 0; (g = json_array_get(groups, i)) != NULL; i++)
        look_at_group(&l, g);
    for (k = 0; k < 2 * KINDS; k++) {
        json_array_extend(all, l.of[k % KINDS][k / KINDS]);
        json_decref(l.of[k % KINDS][k / KINDS]);
    }
    return all;
}
