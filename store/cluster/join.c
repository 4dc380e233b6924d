/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/join.h"

#include "base/clock_ms.h"
#include "store/cluster/epoch.h"
#include "store/cluster/hello.h"
#include "store/cluster/history.h"
#include "store/note.h"

static int64_t kept_at; /* ms: when that was logged */

static void note_kept(const store_cluster_hooks_t *hooks, store_join_t join,
                      const store_relation_t *r)
{
    char vip[STORE_ADDRESS_TEXT];

    if (!store_note_is_due(&kept_at, clock_ms()))
        return;
    store_note(STORE_WARN,
               "this host keeps its items, and does not follow the master at "
               "%s: %s (%llu changes are only here, %llu only there). If the "
               "items of this host are not wanted, call \"apppoolctl store "
               "forget\" here",
               store_address_text(&hooks->config->vip, vip),
               join == STORE_KEEP_MORE    ? "more is here than there"
               : join == STORE_KEEP_WHOLE ? "the items of the master are not "
                                            "complete"
                                          : "they have nothing in common",
               (unsigned long long)r->mine, (unsigned long long)r->theirs);
}

static void note_dropped(const store_cluster_hooks_t *hooks,
                         const store_relation_t *r)
{
    char vip[STORE_ADDRESS_TEXT];

    store_note(STORE_WARN,
               "this host gives way to the master at %s: changes that are "
               "dropped, because they are only here: %llu; only there: %llu",
               store_address_text(&hooks->config->vip, vip),
               (unsigned long long)r->mine, (unsigned long long)r->theirs);
}

/* @return 1: this host keeps its own data */
static int keeps(const store_cluster_hooks_t *hooks,
                 const store_history_t *theirs)
{
    store_history_t mine;
    store_relation_t r;
    store_join_t join;

    store_history_own(&mine);
    join = store_epoch_join(&mine, theirs, &r);
    if (store_epoch_keeps(join)) {
        note_kept(hooks, join, &r);
        return 1;
    }
    kept_at = 0;
    if (join == STORE_JOIN_GIVES)
        note_dropped(hooks, &r);
    return 0;
}

const char *store_join(const store_cluster_hooks_t *hooks, int is_plain,
                       const store_packet_t *p, const char *value,
                       int *is_declined)
{
    store_history_t theirs;

    if (is_plain && hooks->config->n_secret > 0)
        return "it is no yrmcds, and it speaks without AppStoreKey";
    if (p->version != STORE_WIRE_VERSION)
        return "it is of another version";
    if (store_hello_history(value, p->value, &theirs) != 0)
        return "its history is damaged";
    *is_declined = keeps(hooks, &theirs);
    if (*is_declined)
        return "its data is no descendant of the data here";
    store_history_offer(&theirs);
    return NULL;
}

void store_join_yrmcds(void)
{
    static const store_history_t none;

    store_history_offer(&none);
}
