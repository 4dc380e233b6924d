/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/ask_server.h"
#include "ctl/values.h"
#include "shm/view/view.h"

#define NO_STORE "there is no store: no application has AppStore"

static double megabytes(const json_t *o, const char *key)
{
    return (double)values_number(o, key) / 1048576.0;
}

static const char *percent(const json_t *o, const char *key, char text[16])
{
    const json_t *rate = json_object_get(o, key);

    if (!json_is_number(rate))
        return "-";
    snprintf(text, 16, "%.1f %%", json_number_value(rate) * 100);
    return text;
}

/* ---- status ---- */

/* The end of a noun after this number. */
static const char *s_of(const json_t *space, const char *key)
{
    return values_number(space, key) == 1 ? "" : "s";
}

static void print_space(const json_t *s)
{
    char rate[16];

    printf("\n%s: %.1f of %.1f MB, %lld item%s, %lld of %lld connections\n",
           values_text(s, "name"), megabytes(s, "used"), megabytes(s, "size"),
           (long long)values_number(s, "items"), s_of(s, "items"),
           (long long)values_number(s, "connections"),
           (long long)values_number(s, "max_connections"));
    printf("  %lld get%s, %s of them hits; %lld set%s, %lld delete%s\n",
           (long long)values_number(s, "gets"), s_of(s, "gets"),
           percent(s, "hit_rate", rate), (long long)values_number(s, "sets"),
           s_of(s, "sets"), (long long)values_number(s, "deletes"),
           s_of(s, "deletes"));
    printf("  %lld expired, %lld evicted",
           (long long)values_number(s, "expired"),
           (long long)values_number(s, "evictions"));
    if (json_is_integer(json_object_get(s, "evicted_age")))
        printf(" (the last one was unused for %lld s)",
               (long long)values_number(s, "evicted_age"));
    printf("\n  refused: %lld value%s without room, %lld too large, %lld "
           "connection%s\n",
           (long long)values_number(s, "out_of_memory"),
           s_of(s, "out_of_memory"), (long long)values_number(s, "too_large"),
           (long long)values_number(s, "connections_refused"),
           s_of(s, "connections_refused"));
    if (values_number(s, "unconfirmed") + values_number(s, "not_confirmed") > 0)
        printf("  without a slave that confirms: %lld write%s acknowledged, "
               "%lld refused\n",
               (long long)values_number(s, "unconfirmed"),
               s_of(s, "unconfirmed"),
               (long long)values_number(s, "not_confirmed"));
}

/* ---- other hosts ---- */

static int is(const json_t *o, const char *key)
{
    return json_is_true(json_object_get(o, key));
}

static void print_slaves(const json_t *slaves)
{
    const json_t *s;
    size_t i;

    if (json_array_size(slaves) == 0)
        puts("  no slave");
    for (i = 0; (s = json_array_get(slaves, i)) != NULL; i++)
        printf("  slave %s%s, %s, %lld change%s behind (%.1f s)\n",
               values_text(s, "address"), is(s, "yrmcds") ? " (yrmcds)" : "",
               is(s, "complete") ? "copy complete" : "copy not complete",
               (long long)values_number(s, "lag"), s_of(s, "lag"),
               json_number_value(json_object_get(s, "lag_seconds")));
}

/* @return ", copy 0.4 s old", or "": that is not known */
static const char *age_of(const json_t *cluster, char text[32])
{
    const json_t *age = json_object_get(cluster, "age_seconds");

    text[0] = '\0';
    if (json_is_real(age))
        snprintf(text, 32, ", copy %.1f s old", json_real_value(age));
    return text;
}

static void print_cluster(const json_t *c)
{
    const json_t *slaves = json_object_get(c, "slaves");
    char age[32];

    if (!json_is_object(c))
        return;
    printf("%s of %s since %s%s\n", values_text(c, "role"),
           values_text(c, "virtual_ip"), values_text(c, "since"),
           is(c, "complete") ? "" : ", items not complete");
    if (json_is_string(json_object_get(c, "epoch")))
        printf("  epoch %lld (%s), %lld change%s\n",
               (long long)values_number(c, "epoch_number"),
               values_text(c, "epoch"), (long long)values_number(c, "position"),
               s_of(c, "position"));
    if (json_is_string(json_object_get(c, "reason")))
        printf("  not ready: %s\n", values_text(c, "reason"));
    if (!json_is_array(slaves)) {
        printf("  %s, %lld connection%s relayed%s\n",
               !is(c, "connected") ? "no master is connected"
               : is(c, "yrmcds")   ? "the master is a yrmcds"
                                   : "connected to the master",
               (long long)values_number(c, "relayed"), s_of(c, "relayed"),
               age_of(c, age));
        return;
    }
    if (is(c, "handover"))
        puts("  handover: it serves nothing until the address has moved");
    print_slaves(slaves);
    if (values_number(c, "unsent_changes") > 0)
        printf("  %lld change%s that no slave has\n",
               (long long)values_number(c, "unsent_changes"),
               s_of(c, "unsent_changes"));
}

static int print_store(const json_t *store)
{
    const json_t *spaces = json_object_get(store, "spaces"), *s;
    size_t i;

    if (!json_is_object(store))
        return ask_complain(EXIT_NO, NO_STORE);
    printf("process %lld, started %s, ready in %.0f ms\n",
           (long long)values_number(store, "pid"),
           values_text(store, "started"),
           json_number_value(json_object_get(store, "recovery")) * 1000);
    if (values_number(store, "missing_listeners") > 0)
        printf("it cannot listen at %lld address%s: see the error log\n",
               (long long)values_number(store, "missing_listeners"),
               values_number(store, "missing_listeners") == 1 ? "" : "es");
    print_cluster(json_object_get(store, "cluster"));
    for (i = 0; (s = json_array_get(spaces, i)) != NULL; i++)
        print_space(s);
    return EXIT_OK;
}

int store_status(const char *dir, int raw)
{
    const json_t *store;
    json_t *o;
    int status = ask_status(dir, 0, &o);

    if (status != 0)
        return status;
    store = json_object_get(o, "store");
    if (!store)
        status = ask_complain_report(o);
    else if (raw) {
        json_dumpf(store, stdout,
                   JSON_INDENT(1) | JSON_ENCODE_ANY | APL_REPORT_REALS);
        putchar('\n');
    }
    else
        status = print_store(store);
    json_decref(o);
    return status;
}

/* ---- ready ---- */

typedef struct {
    const char *word; /* in the report */
    int status;
    const char *why;
} reason_t;

/* Of the store itself. */
static const reason_t *reason_of(const json_t *c)
{
    static const reason_t all[] = {
        {"incomplete", STORE_NOT_COMPLETE,
         "the copy of the master's items is not complete"},
        {"better elsewhere", STORE_NOT_BEST,
         "another host has better data: see the error log"},
        {"stale", STORE_NOT_FRESH,
         "its copy is old: it has lost the master, does not keep up with it, "
         "or "
         "was refused by it in the last 10 s"},
        {"other", EXIT_NO,
         "it has not looked for a master yet, or this store hangs, or gets no "
         "copy of the master: see the error log"},
    };
    const char *word = json_string_value(json_object_get(c, "reason"));
    size_t i, last = sizeof all / sizeof *all - 1;

    for (i = 0; i < last && (!word || strcmp(word, all[i].word) != 0); i++)
        ;
    return &all[i];
}

/* @param status gets the exit status @return NULL: it is ready */
static const char *why_not_ready(const json_t *store, int *status)
{
    const json_t *c = json_object_get(store, "cluster");
    const reason_t *reason;

    *status = EXIT_NO;
    if (!json_is_object(store))
        return NO_STORE;
    if (!json_is_object(c))
        return "the store has no AppStoreVirtualIP, so it is alone";
    if (is(c, "ready"))
        return NULL;
    if (is(c, "handover"))
        return "a handover: the address has to move";
    reason = reason_of(c);
    *status = reason->status;
    return reason->why;
}

/* @param also the status that is no reason either */
static int ready(const char *dir, int raw, int also)
{
    const json_t *store;
    const char *why;
    char age[32];
    json_t *o;
    int no, status = ask_status(dir, 0, &o);

    if (status != 0)
        return status;
    if (!json_object_get(o, "store"))
        status = ask_complain_report(o);
    else {
        store = json_object_get(o, "store");
        why = why_not_ready(store, &no);
        why = no == also ? NULL : why;
        age_of(json_object_get(store, "cluster"), age);
        if (raw)
            puts(why ? "{\"ready\":false}" : "{\"ready\":true}");
        status = !why  ? EXIT_OK
                 : raw ? no
                       : ask_complain(no, "not ready: %s%s", why,
                                      no == STORE_NOT_FRESH ? age : "");
    }
    json_decref(o);
    return status;
}

int store_ready(const char *dir, int raw)
{
    return ready(dir, raw, EXIT_OK);
}

int store_usable(const char *dir, int raw)
{
    return ready(dir, raw, STORE_NOT_FRESH);
}

/* ---- top ---- */

static const json_t *space_before(const top_reports_t *l, const json_t *now)
{
    const json_t *store = json_object_get(l->before, "store");

    return values_named(json_object_get(store, "spaces"),
                        values_word(now, "name"));
}

static void put_space(FILE *out, const top_reports_t *l, const json_t *s)
{
    const json_t *before = space_before(l, s);
    char gets[24], sets[24], evicted[24], rate[16];

    fprintf(out, "%9.1f %9.1f %10lld %9s %9s %8s %10s %6lld  %s\n",
            megabytes(s, "used"), megabytes(s, "size"),
            (long long)values_number(s, "items"),
            top_rate(l, s, before, "gets", gets),
            top_rate(l, s, before, "sets", sets), percent(s, "hit_rate", rate),
            top_rate(l, s, before, "evictions", evicted),
            (long long)values_number(s, "connections"), values_text(s, "name"));
}

static void put(FILE *out, const top_reports_t *l)
{
    const json_t *store = json_object_get(l->now, "store"), *s;
    const json_t *spaces = json_object_get(store, "spaces");
    size_t i;

    top_put_clock(out);
    if (json_is_object(store))
        fprintf(out, "store %lld, started %s",
                (long long)values_number(store, "pid"),
                values_text(store, "started"));
    else
        fputs(NO_STORE, out);
    fprintf(out, "%s%s\n\n", l->trouble ? "; " : "",
            l->trouble ? l->trouble : "");
    /* The name comes last, because it may be a long path. */
    fprintf(out, "%9s %9s %10s %9s %9s %8s %10s %6s  %s\n", "USED MB",
            "SIZE MB", "ITEMS", "GETS/S", "SETS/S", "HITS", "EVICTED/S", "CONN",
            "SPACE");
    for (i = 0; (s = json_array_get(spaces, i)) != NULL; i++)
        put_space(out, l, s);
}

const top_view_t store_top = {"store", put};
