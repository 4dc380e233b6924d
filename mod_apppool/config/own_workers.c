/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/own_workers.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <stdlib.h>
#include <string.h>

#include "mod_apppool/config/warning.h"

/* Options with a number of processes. NULL: the server has no such option. */
static const struct {
    const char *program, *letter, *word;
    int reads_web_concurrency; /* the variable, if there is no option */
} servers[] = {
    {"gunicorn", "-w", "--workers", 1},
    {"puma", "-w", "--workers", 1},
    {"uwsgi", "-p", "--processes", 0},
    {"uwsgi-core", "-p", "--processes", 0},
};

#define SERVERS (sizeof servers / sizeof *servers)

static size_t find_server(const char *word)
{
    const char *last = strrchr(word, '/');
    size_t i = 0;

    last = last ? last + 1 : word;
    while (i < SERVERS && strcmp(last, servers[i].program) != 0)
        i++;
    return i;
}

/* "4" of "-w4" and "--workers=4". @param next the word behind
 * @return NULL: this word is not the option */
static const char *value_of(size_t server, const char *word, const char *next)
{
    size_t n = strlen(servers[server].word);

    if (!strcmp(word, servers[server].letter) ||
        !strcmp(word, servers[server].word))
        return next;
    if (!strncmp(word, servers[server].letter, 2) && word[2])
        return word + 2;
    return !strncmp(word, servers[server].word, n) && word[n] == '='
               ? word + n + 1
               : NULL;
}

static long number(const char *text)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;

    return text && apr_isdigit(*text) && !*end ? n : 0;
}

/* @param option filled in: what says so
 * @return how many processes the command starts; 0: not known, or no others */
static long count(apr_pool_t *p, const apppool_app_t *app, const char **option)
{
    char *command = apr_pstrdup(p, app->set->command), *rest, *word, *next;
    size_t server = SERVERS;
    const char *value;

    word = apr_strtok(command, " \t'\"", &rest);
    for (; word; word = next) {
        next = apr_strtok(NULL, " \t'\"", &rest);
        if (server == SERVERS) {
            server = find_server(word);
            continue;
        }
        value = value_of(server, word, next);
        if (value) {
            *option = servers[server].word;
            return number(value);
        }
    }
    if (server == SERVERS || !servers[server].reads_web_concurrency ||
        !app->set->env)
        return 0;
    *option = "WEB_CONCURRENCY";
    return number(apr_hash_get(app->set->env, *option, APR_HASH_KEY_STRING));
}

void apppool_own_workers_warn(apr_pool_t *p, const apppool_app_t *app)
{
    uint32_t requests = app->pool.options.concurrency;
    const char *option = NULL;
    long n = app->set->command ? count(p, app, &option) : 0;

    if (requests == APL_CONCURRENCY_AUTO)
        requests = 1;
    if (n < 2 || requests == 0 || n <= (long)requests)
        return;
    apppool_warning(app,
                    "each process of the pool starts %ld processes of its own "
                    "(%s), and gets %u request%s at a time (AppConcurrency): "
                    "leave %s out, because the pool starts as many processes "
                    "as the requests need",
                    n, option, requests, requests == 1 ? "" : "s", option);
}
