/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/text_other.h"

#include "store/command/answer.h"
#include "store/command/dump.h"

/* The answers. NULL: the command is wrong. */

static const char *verbosity(const store_tokens_t *t)
{
    uint32_t level;

    if (t->n < 2 || t->n > 3)
        return NULL;
    return store_token_u32(t->word[1], &level)
               ? "OK"
               : "CLIENT_ERROR bad command line format";
}

static const char *cache_memlimit(const store_tokens_t *t)
{
    uint32_t megabytes;

    if (t->n < 2 || t->n > 3 || !store_token_u32(t->word[1], &megabytes))
        return NULL;
    if (megabytes < 8)
        return "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m";
    return megabytes > 1000000000
               ? "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes"
               : "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust";
}

static const char *slabs(const store_tokens_t *t)
{
    return t->n == 4 && store_token_is(t->word[1], "reassign")
               ? "CLIENT_ERROR slab reassignment disabled"
               : NULL;
}

static const char *lru_crawler(const store_tokens_t *t)
{
    return t->n == 3 && store_token_is(t->word[1], "crawl")
               ? "CLIENT_ERROR lru crawler disabled"
               : NULL;
}

static const char *shut_down(const store_tokens_t *t)
{
    (void)t;
    return "ERROR: shutdown not enabled";
}

static const char *watch(const store_tokens_t *t)
{
    (void)t;
    return "CLIENT_ERROR watch commands not allowed";
}

static const struct {
    const char *name;
    bool noreply; /* it may end with this word */
    const char *(*answer)(const store_tokens_t *);
} commands[] = {
    {"verbosity", true, verbosity}, {"cache_memlimit", true, cache_memlimit},
    {"slabs", false, slabs},        {"lru_crawler", false, lru_crawler},
    {"shutdown", false, shut_down}, {"watch", true, watch},
};

bool store_text_other(store_session_t *session, const store_tokens_t *tokens,
                      store_reply_t *reply)
{
    store_token_t last = tokens->word[tokens->n - 1];
    const char *answer;

    if (store_dump_begin(session, tokens))
        return true;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!store_token_is(tokens->word[0], commands[i].name))
            continue;
        answer = commands[i].answer(tokens);
        session->quiet =
            answer && commands[i].noreply && store_token_is(last, "noreply");
        store_answer(session, reply, answer ? answer : "ERROR");
        return true;
    }
    return false;
}
