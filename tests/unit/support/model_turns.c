/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The model's room, and whose turn it is to use it. */

#include "tests/unit/support/model_capacity.h"

/* ---- room ---- */

/* All processes, and all but those that only replace one. */
static unsigned all(const model_t *m)
{
    return model_size(m, -1) + model_spawning(m, -1);
}

static unsigned regular(const model_t *m)
{
    unsigned n = all(m);
    int i;

    for (i = 0; i < m->n_processes; i++)
        n -= (m->processes[i].replaces &&
              (m->processes[i].state == M_WANTED ||
               m->processes[i].state == M_STARTING)) ||
             (m->processes[i].trial && m->processes[i].state == M_LIVE);
    return n;
}

/* Places that are taken below the limit, except for a start that only
 * replaces. */
static int has_slots(const model_t *m)
{
    return all(m) + model_sums(m, -1).leaving < MODEL_PROCESSES;
}

unsigned model_limit_of(const model_t *m)
{
    return m->max + model_credit(m, -1);
}

/* The limit for a group: its own credit counts when it has too few
 * processes. */
static unsigned limit_for(const model_t *m, int group)
{
    return model_limit_of(m) -
           (model_is_short(m, group) ? 0 : model_credit(m, group));
}

/* With this limit, is a place free? */
static int has_place(const model_t *m, unsigned limit)
{
    return has_slots(m) && regular(m) < limit && all(m) <= limit;
}

static int has_place_for(const model_t *m, int group)
{
    return has_place(m, limit_for(m, group));
}

int model_exceeded(const model_t *m)
{
    return regular(m) > model_limit_of(m);
}

int model_above(const model_t *m, int group)
{
    unsigned max = m->groups[group].options.max_instances;

    return (max != 0 && model_size(m, group) > max + model_credit(m, group)) ||
           (model_exceeded(m) &&
            model_size(m, group) > m->groups[group].options.min_instances);
}

/* ---- turns ---- */

static void take_turn_above(model_t *m, int group)
{
    if (m->groups[group].above == 0)
        m->groups[group].above = ++m->clock;
}

static void take_turn(model_t *m, int group)
{
    if (m->groups[group].turn == 0)
        m->groups[group].turn = ++m->clock;
}

static int wants_turn(const model_t *m, int group)
{
    return model_waiting(m, group) > 0 && model_may_grow(m, group);
}

typedef enum { ANY, WITH_A_PLACE, MAY_EVICT } fits_t;

static int fits(const model_t *m, int group, fits_t how)
{
    return how == ANY ||
           (how == MAY_EVICT && !model_fails(m, group) &&
            model_spawning(m, group) == 0) ||
           (how == WITH_A_PLACE && has_place_for(m, group));
}

/* The first group that still wants its turn, fits, and is not `but`. Groups
 * before it that do not want their turn lose it. If others
 * would have to make room, groups whose starts fail keep only the turn for the
 * place above. */
static int next_turn(model_t *m, int unserved, fits_t how, int but)
{
    uint64_t after = 0;

    for (;;) {
        int g, first = -1;

        for (g = 0; g < MODEL_GROUPS; g++)
            if (m->groups[g].there && m->groups[g].turn > after &&
                model_unserved(m, g) == unserved &&
                (first < 0 || m->groups[g].turn < m->groups[first].turn))
                first = g;
        if (first < 0)
            return -1;
        after = m->groups[first].turn;
        if (!wants_turn(m, first))
            m->groups[first].turn = 0;
        else if (how == MAY_EVICT && model_fails(m, first)) {
            m->groups[first].turn = 0;
            take_turn_above(m, first);
        }
        else if (first != but && fits(m, first, how))
            return first;
    }
}

static int older(const model_t *m, int a, int b)
{
    int sa = a < 0 ? -1 : model_head(m, a), sb = b < 0 ? -1 : model_head(m, b);

    if (sa < 0 || sb < 0)
        return sa >= 0 ? a : b;
    return m->sessions[sb].ticket < m->sessions[sa].ticket ? b : a;
}

/* Does another group wait for longer? */
static int is_later(model_t *m, int group)
{
    int unserved = next_turn(m, 1, ANY, -1);
    int first = older(m, unserved, next_turn(m, 0, WITH_A_PLACE, -1));

    return first >= 0 && first != group && older(m, first, group) == first;
}

/* It makes room for another group. */
static void evict(model_t *m, int process)
{
    int group = m->processes[process].group;

    model_move(m, process, M_LEAVING);
    if (wants_turn(m, group))
        take_turn(m, group);
}

/* One process makes room. @return 0: none can */
static int make_room(model_t *m, int newcomer, int freed)
{
    int v;

    if (!has_place(m, model_limit_of(m) + 1))
        return 0;
    v = model_victim(m, newcomer, model_unserved(m, newcomer));
    if (v < 0)
        v = model_shared_victim(m, freed, newcomer);
    if (v >= 0)
        evict(m, v);
    return v >= 0;
}

void model_want(model_t *m, int group)
{
    if (!model_may_grow(m, group))
        return;
    if (has_place_for(m, group) && !is_later(m, group))
        model_add(m, group, M_WANTED);
    else if (model_waiting(m, group) > 0)
        take_turn(m, group);
}

int model_demand(model_t *m, int group)
{
    if (!model_may_grow(m, group))
        return 0;
    if (!has_place_for(m, group) &&
        (!fits(m, group, MAY_EVICT) || !make_room(m, group, -1)))
        return 0;
    return model_add(m, group, M_WANTED) != NULL;
}

static int serve(model_t *m, int group)
{
    m->groups[group].turn = m->groups[group].above = 0;
    return model_add(m, group, M_WANTED) != NULL;
}

/* Its requests may need another one. */
static void queue_again(model_t *m, int group)
{
    if (wants_turn(m, group))
        take_turn(m, group);
}

/* A free place goes to the group that waits longest. If there is no place, a
 * process makes room for the first start of an unserved group, unless the
 * starts of that group fail. */
static int serve_next(model_t *m, int freed)
{
    int first;

    if (has_place(m, model_limit_of(m))) {
        first = next_turn(m, 1, ANY, -1);
        first = older(m, first, next_turn(m, 0, WITH_A_PLACE, -1));
    }
    else {
        first = next_turn(m, 1, MAY_EVICT, -1);
        if (first >= 0 && !make_room(m, first, freed))
            first = -1;
    }
    if (first < 0 || !serve(m, first))
        return 0;
    queue_again(m, first);
    return 1;
}

/* ---- the place above the limit ---- */

static int is_outdated(const model_t *m, int group)
{
    int i, n = 0;

    for (i = 0; i < m->n_processes; i++)
        n += m->processes[i].group == group && model_outdated(m, i);
    return n > 0;
}

static int may_replace(const model_t *m, int group)
{
    unsigned max = m->groups[group].options.max_instances;

    return is_outdated(m, group) && model_spawning(m, group) == 0 &&
           model_may_start(m, group) &&
           (max == 0 || model_size(m, group) <= max + model_credit(m, group));
}

/* May the group have it now, to replace a process or to try again? */
static int may_go_above(const model_t *m, int group)
{
    return may_replace(m, group) ||
           (model_fails(m, group) && model_unserved(m, group) &&
            wants_turn(m, group));
}

/* The first that may; those before it lose their turn. */
static int next_above(model_t *m)
{
    for (;;) {
        int g, first = -1;

        for (g = 0; g < MODEL_GROUPS; g++)
            if (m->groups[g].there && m->groups[g].above > 0 &&
                (first < 0 || m->groups[g].above < m->groups[first].above))
                first = g;
        if (first < 0 || may_go_above(m, first))
            return first;
        m->groups[first].above = 0;
    }
}

static void serve_above(model_t *m)
{
    int g, i;

    while (has_slots(m) && all(m) <= model_limit_of(m) &&
           (g = next_above(m)) >= 0) {
        int above = may_replace(m, g) || !has_place_for(m, g);

        if (!serve(m, g))
            return;
        for (i = m->n_processes - 1; i >= 0; i--)
            if (m->processes[i].state == M_WANTED && m->processes[i].group == g)
                m->processes[i].replaces = above;
        queue_again(m, g);
    }
}

void model_replace(model_t *m, int group)
{
    if (is_outdated(m, group))
        take_turn_above(m, group);
    serve_above(m);
}

void model_return(model_t *m, int group)
{
    int v = model_exceeded(m) ? model_victim(m, group, 1) : -1;

    if (v >= 0)
        evict(m, v);
}

/* ---- sharing ---- */

/* No client needs the process any more, so it makes room for an unserved
 * group. */
void model_yield(model_t *m, int process)
{
    int g;

    if (!model_forsaken(m, process) || !has_place(m, model_limit_of(m) + 1))
        return;
    g = next_turn(m, 1, MAY_EVICT, m->processes[process].group);
    if (g < 0)
        return;
    evict(m, process);
    if (serve(m, g))
        queue_again(m, g);
}

static void settle(model_t *m, int freed)
{
    while (serve_next(m, freed))
        ;
    serve_above(m);
}

void model_settle(model_t *m)
{
    settle(m, -1);
}

void model_share(model_t *m, int group)
{
    int free = has_place(m, model_limit_of(m));
    int unserved = next_turn(m, 1, free ? ANY : MAY_EVICT, -1);
    int s, p;

    if (unserved >= 0 && older(m, unserved, group) == unserved)
        settle(m, group);
    while ((s = model_head(m, group)) >= 0 && (p = model_pick(m, group)) >= 0) {
        if (m->wakes == MODEL_WAKES) {
            m->more = 1;
            break;
        }
        m->wakes++;
        model_give(m, s, p);
    }
    if (model_waiting(m, group) > 0 && !m->more && model_may_grow(m, group))
        take_turn(m, group);
    model_settle(m);
}

void model_share_all(model_t *m)
{
    int groups[MODEL_GROUPS], i, n = model_in_order(m, groups);

    for (i = 0; i < n; i++)
        model_share(m, groups[i]);
}

void model_unlock(model_t *m)
{
    for (m->wakes = 0; m->more; m->wakes = 0) {
        m->more = 0;
        model_share_all(m);
    }
}
