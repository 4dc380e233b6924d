/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/rivals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/bell.h"
#include "store/cluster/peers.h"
#include "store/note.h"
#include "store/thread.h"

/* ms */
#define ROUND   10000 /* from one question to the next */
#define AGAIN   1000  /* after the first answer of another master */
#define LONGEST 1000  /* that an answer may take */

static struct {
    const store_cluster_hooks_t *hooks;
    pthread_t thread;
    int bell; /* eventfd: the thread has to end; -1: there is none */
    int stop; /* atomic */
} rivals = {.bell = -1};

/* @return 1: the thread has to end */
static int rest(int ms)
{
    struct pollfd p = {rivals.bell, POLLIN, 0};

    if (poll(&p, 1, ms) < 0) {
        /* EINTR: this question comes early. */
    }
    return STORE_GET_ACQUIRE(rivals.stop);
}

/* @return NULL: no host has said that it is a master */
static const store_address_t *another(const store_answers_t *answers)
{
    unsigned i;

    for (i = 0; i < answers->n; i++)
        if (answers->answer[i].is_master)
            return &answers->answer[i].from;
    return NULL;
}

static void note(const store_address_t *rival)
{
    char vip[STORE_ADDRESS_TEXT], name[STORE_ADDRESS_TEXT];

    store_note(STORE_ERROR,
               "%s is a master, too: %s is at both hosts, and what one of them "
               "takes will be lost; take the address from one of them",
               store_address_text(rival, name),
               store_address_text(&rivals.hooks->config->vip, vip));
}

static void *run(void *ctx)
{
    store_answers_t *answers = ctx;
    const store_address_t *rival = NULL;
    int64_t noted_at = 0;
    int was_there = 0;

    while (!rest(rival && !was_there ? AGAIN : ROUND)) {
        was_there = rival != NULL;
        store_peers_ask(rivals.hooks, LONGEST, rivals.bell, answers);
        rival = another(answers);
        if (rival && was_there && store_note_is_due(&noted_at, clock_ms()))
            note(rival);
    }
    free(answers);
    return NULL;
}

static int start(void)
{
    store_answers_t *answers = malloc(sizeof *answers);

    rivals.bell = store_bell_make();
    if (answers && rivals.bell >= 0 &&
        store_thread_start(&rivals.thread, "rivals", run, answers) == 0)
        return 0;
    free(answers);
    if (rivals.bell >= 0)
        close(rivals.bell);
    rivals.bell = -1;
    return -1;
}

void store_rivals_begin(const store_cluster_hooks_t *hooks)
{
    rivals.hooks = hooks;
    rivals.stop = 0;
    if (start() != 0)
        store_note(STORE_WARN, "the store cannot look for another master: %s",
                   strerror(errno));
}

void store_rivals_end(void)
{
    if (rivals.bell < 0)
        return;
    STORE_SET_RELEASE(rivals.stop, 1);
    store_bell_ring(rivals.bell);
    pthread_join(rivals.thread, NULL);
    close(rivals.bell);
    rivals.bell = -1;
}
