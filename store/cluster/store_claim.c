/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/store_claim.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock_ms.h"
#include "store/cluster/epoch.h"
#include "store/cluster/history.h"
#include "store/memory/region.h"
#include "store/note.h"

#define KEPT 15000 /* ms. A slave claims each second */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t heard_at; /* ms: the last claim; 0: there was none */
static int64_t noted_at; /* ms: when one was logged */
static char claimant[STORE_ADDRESS_TEXT]; /* of the last claim */

void store_claim_clear(void)
{
    pthread_mutex_lock(&lock);
    heard_at = noted_at = 0;
    pthread_mutex_unlock(&lock);
}

static int is_due(int is_claim, const char *name)
{
    int64_t now = clock_ms();
    int due;

    pthread_mutex_lock(&lock);
    if (is_claim) {
        heard_at = now;
        snprintf(claimant, sizeof claimant, "%s", name);
    }
    due = store_note_is_due(&noted_at, now);
    pthread_mutex_unlock(&lock);
    return due;
}

/* Its items were forgotten, and it takes the master's. */
static void withdraw(const char *name)
{
    pthread_mutex_lock(&lock);
    if (strcmp(claimant, name) == 0)
        heard_at = 0;
    pthread_mutex_unlock(&lock);
}

static void note(const store_history_t *claimed, const store_history_t *mine,
                 const char *name, store_claim_t claim)
{
    store_relation_t r = store_epoch_compare(claimed, mine);

    if (claim == STORE_CLAIM_NONE)
        store_note(STORE_WARN,
                   "%s does not follow this master, because its items have "
                   "nothing in common with those here; if they are not "
                   "wanted, call \"apppoolctl store forget\" there",
                   name);
    else
        store_note(STORE_WARN,
                   "%s does not follow this master, because it has better "
                   "data%s: %llu changes that are not here. This host has %llu "
                   "that are not there. It goes on to serve, but it is not "
                   "ready to be the master",
                   name,
                   claim == STORE_CLAIM_OLDER
                       ? ", and this host began without an item"
                       : "",
                   (unsigned long long)r.mine, (unsigned long long)r.theirs);
}

int store_claim_hear(const store_history_t *claimed,
                     const store_history_t *mine, const char *name,
                     int is_trusted)
{
    store_relation_t r;
    store_claim_t claim = store_epoch_claim(claimed, mine);
    int keeps = store_epoch_keeps(store_epoch_join(claimed, mine, &r));

    if (!keeps && is_trusted)
        withdraw(name);
    if (!keeps || !is_trusted)
        return keeps;
    if (claim == STORE_CLAIM_OLDER)
        store_history_contest();
    if (is_due(claim != STORE_CLAIM_NONE, name))
        note(claimed, mine, name, claim);
    return 1;
}

int store_claim_is_there(void)
{
    int is;

    pthread_mutex_lock(&lock);
    is = heard_at != 0 && clock_ms() - heard_at < KEPT;
    pthread_mutex_unlock(&lock);
    return is;
}
