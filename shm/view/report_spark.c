/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <string.h>

#include "shm/format/timing.h"
#include "shm/lock/lock_token.h"
#include "shm/slots/numbers.h"

#define DIGITS "0123456789abcdefghijklmnopqrstuvwxyz"

/* Responses a second, by steps; the last one is the newest. */
typedef struct {
    double all[APL_STEPS], errors[APL_STEPS];
} spark_t;

/* The number of a step. The spawner is late by some time, but by less than a
 * step, so it records each of them once. */
static int64_t number_of(int64_t time)
{
    return time / APL_STEP_PERIOD;
}

static void read_spark(const apl_numbers_t *numbers, spark_t *to)
{
    int64_t now = apl_now(), last = number_of(now);
    apl_step_t steps[APL_STEPS];
    int i, n = apl_report_steps(numbers, now, steps);

    memset(to, 0, sizeof *to);
    if (n > 0 && number_of(steps[n - 1].time) != last)
        last--; /* that of now is recorded soon */
    for (i = 0; i < n; i++) {
        const apl_step_t *is = &steps[i];
        int64_t at = APL_STEPS - 1 - (last - number_of(is->time));

        if (at < 0 || is->span == 0)
            continue;
        to->all[at] = is->requests * 1000.0 / is->span;
        to->errors[at] = is->responses[APL_CLASSES - 2] * 1000.0 / is->span;
    }
}

static double largest(const double of[APL_STEPS])
{
    double most = 0;
    int i;

    for (i = 0; i < APL_STEPS; i++)
        most = of[i] > most ? of[i] : most;
    return most;
}

/* A digit for each step: the largest value is "z", and any other that is not 0
 * is at least "1". */
static json_t *digits(const double of[APL_STEPS], double most)
{
    char text[APL_STEPS + 1];
    int i;

    if (largest(of) <= 0)
        return json_null();
    for (i = 0; i < APL_STEPS; i++) {
        double part = most > of[i] ? of[i] / most : 1;
        int digit = (int)(part * (double)(sizeof DIGITS - 2));

        text[i] = DIGITS[digit > 0 ? digit : of[i] > 0];
    }
    text[APL_STEPS] = 0;
    return json_string(text);
}

static json_t *spark_of(const apl_pool_t *copy, const apl_group_t *g)
{
    spark_t spark;
    double most;
    json_t *o = json_object();

    read_spark(apl_numbers_of(copy, g), &spark);
    most = largest(spark.all);
    json_object_set_new(o, "all", digits(spark.all, most));
    json_object_set_new(o, "errors", digits(spark.errors, most));
    json_object_set_new(o, "peak", json_real(most));
    return o;
}

void apl_report_sparks(json_t *report, const apl_pool_t *copy)
{
    json_t *groups = json_object_get(report, "groups"), *g;
    uint32_t i, top = apl_top(&copy->header->top_group, copy->n.groups);
    size_t at = 0;

    /* report.c lists them in this order. */
    for (i = 1; i <= top; i++) {
        if (copy->groups[i].state != APL_GROUP_USED)
            continue;
        g = json_array_get(groups, at++);
        if (g)
            json_object_set_new(g, "spark", spark_of(copy, &copy->groups[i]));
    }
}
