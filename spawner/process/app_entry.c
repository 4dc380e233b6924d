/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/app_entry.h"

static void mix(uint64_t *print, const char *s)
{
    do
        *print = (*print ^ (unsigned char)(s ? *s : 1)) * 0x100000001b3;
    while (s && *s++);
}

static void mix_number(uint64_t *print, uint64_t n)
{
    *print = (*print ^ n) * 0x100000001b3;
}

/* It does not depend on the order of the variables. */
static uint64_t sum(const char *const *variables)
{
    uint64_t all = 0;

    for (; *variables; variables++) {
        uint64_t one = 0xcbf29ce484222325;

        mix(&one, *variables);
        all += one;
    }
    return all;
}

uint64_t app_entry_fingerprint(const app_entry_t *a)
{
    uint64_t print = 0xcbf29ce484222325 ^ a->listen ^ a->protocol << 8;
    int l;

    for (l = 0; l < a->n_rlimits; l++) {
        mix_number(&print, (uint64_t)a->rlimits[l].resource);
        mix_number(&print, a->rlimits[l].to.rlim_cur);
        mix_number(&print, a->rlimits[l].to.rlim_max);
    }
    mix_number(&print, (uint64_t)a->no_new_privileges);
    if (!a->command) /* then a command is found, and gets a number of threads */
        mix_number(&print, a->app.options.concurrency);
    mix(&print, a->app.root);
    mix(&print, a->command);
    mix(&print, a->user);
    mix(&print, a->group);
    mix(&print, a->environment);
    mix(&print, a->base_uri);
    mix(&print, a->env_file);
    return print + sum(a->env) + sum(a->store_env);
}
