/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock_ms.h"
#include "store/clock.h"
#include "store/cluster/epoch.h"
#include "store/cluster/hello.h"
#include "store/cluster/history.h"
#include "store/cluster/old_copy.h"
#include "store/cluster/wire.h"
#include "store/memory/item.h"
#include "store/memory/space.h"
#include "store/note.h"

/* ---- does this slave follow? ---- */

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

/* The master has sent its hello. If the answer is yes, its history is that of
 * this host as soon as the copy is complete. If it is no, because the data of
 * this host is better, the log says so. Changes that are dropped are logged,
 * too.
 * @param value       p->value bytes of the hello
 * @param is_declined gets 1 if the data of this host is better
 * @return NULL: yes; why not */
static const char *join(const store_cluster_hooks_t *hooks, int is_plain,
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

/* It has no history, and each slave takes its copy. */
static void join_yrmcds(void)
{
    static const store_history_t none;

    store_history_offer(&none);
}

struct store_apply {
    const store_cluster_hooks_t *hooks;
    int is_plain, is_quiet;
    void (*begins)(int is_kept);
    store_old_copy_t old;
    unsigned generation;      /* of the spaces, when the copy began */
    int has_space;            /* a space was named */
    char named[STORE_SPACES]; /* by slot: this one was */
    store_space_t *space;     /* the present one; NULL: it is not here */
    /* the set whose value arrives */
    store_packet_t set;
    store_item_t *item; /* NULL: its value is skipped */
    uint32_t left;      /* bytes of the value that are still to come */
    store_applied_t result;
};

store_apply_t *store_apply_make(const store_cluster_hooks_t *hooks,
                                int is_plain, int is_quiet,
                                void (*begins)(int is_kept),
                                void (*progress)(void))
{
    store_apply_t *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->hooks = hooks;
    a->is_plain = is_plain;
    a->is_quiet = is_quiet;
    a->begins = begins;
    a->old = (store_old_copy_t){
        .hooks = hooks, .is_plain = is_plain, .progress = progress};
    return a;
}

void store_apply_free(store_apply_t *a)
{
    if (a->item)
        store_item_release(a->space, a->item);
    free(a);
}

const store_applied_t *store_apply_result(const store_apply_t *a)
{
    return &a->result;
}

int store_apply_is_short(const store_apply_t *a)
{
    return a->result.has_begun && a->generation != a->hooks->generation();
}

void store_apply_complete(store_apply_t *a)
{
    store_old_copy_end(&a->old);
    a->result.is_complete = 1;
}

static int fail(store_apply_t *a, const char *why)
{
    a->result.error = why;
    return -1;
}

/* A counter that a master has raised to its end would give no other cas. */
static int is_cas(uint64_t cas)
{
    return cas <= INT64_MAX;
}

static void count(store_apply_t *a)
{
    if (a->result.is_complete)
        a->result.received++;
    else
        a->result.items++;
}

/* On the store's clock. A yrmcds tells the time of day, one of ours the seconds
 * from now, which no step of a host's clock changes. @return 1: it has
 * expired */
static uint32_t exptime_here(const store_apply_t *a, uint32_t exptime)
{
    if (exptime == 0)
        return 0;
    return a->result.is_yrmcds
               ? store_clock_from_host(exptime)
               : store_clock_in_range((int64_t)store_clock() + exptime);
}

/* When an item was used, on the store's clock. */
static uint32_t used_here(const store_packet_t *p)
{
    uint32_t now = store_clock(), age = store_wire_age(p->bits);

    return age < now ? now - age : 1;
}

/* ---- changes of a key ---- */

static void remove_key(store_apply_t *a, const char *key, uint8_t klen)
{
    store_bucket_t b;
    store_item_t *old;

    store_index_lock(&b, a->space, key, klen);
    old = store_index_find(&b, NULL);
    if (old)
        store_index_remove(&b, old);
    store_index_unlock(&b);
}

/* The master may have replaced the item already: that comes, too. */
static int is_of(const store_packet_t *p, const store_item_t *item)
{
    return p->cas == 0 || store_cas(item) == p->cas;
}

static void touch(store_apply_t *a, const char *key, const store_packet_t *p)
{
    uint32_t used = used_here(p);
    store_bucket_t b;
    store_item_t *item;

    store_index_lock(&b, a->space, key, p->klen);
    item = store_index_find(&b, NULL);
    if (item && is_of(p, item)) {
        store_index_touch(&b, item, exptime_here(a, p->exptime));
        if (STORE_GET(item->used) < used)
            STORE_SET(item->used, used);
    }
    store_index_unlock(&b);
}

/* The value is complete. */
static void publish(store_apply_t *a)
{
    const char *key = store_item_key(a->item);
    store_bucket_t b;

    STORE_SET(a->item->used, used_here(&a->set));
    store_index_lock(&b, a->space, key, a->set.klen);
    store_index_put_copy(&b, a->item, store_index_find(&b, NULL), a->set.cas,
                         a->set.bits);
    store_index_unlock(&b);
    store_item_release(a->space, a->item);
    a->item = NULL;
}

static void count_no_room(store_apply_t *a)
{
    a->result.no_room++;
    snprintf(a->result.no_room_in, sizeof a->result.no_room_in, "%s",
             a->space->name);
}

/* The value follows. An older item of the key stays until it has come: it is no
 * older than what the master had a moment ago. */
static void begin_set(store_apply_t *a, const char *key,
                      const store_packet_t *p)
{
    uint32_t exptime = exptime_here(a, p->exptime);

    a->set = *p;
    a->left = p->value;
    a->item = NULL;
    if (!a->space)
        return;
    if (exptime != 1 && p->value <= store_item_max)
        a->item = store_old_copy_make(&a->old, a->space, key, p, exptime);
    if (!a->item) {
        remove_key(a, key, p->klen);
        if (exptime != 1)
            count_no_room(a);
    }
    else if (a->left == 0)
        publish(a);
}

char *store_apply_room(store_apply_t *a, size_t *n)
{
    uint32_t part;
    char *room;

    if (!a->item)
        return NULL;
    room =
        store_item_bytes(a->space, a->item, a->item->length - a->left, &part);
    *n = part < a->left ? part : a->left;
    return room;
}

void store_apply_filled(store_apply_t *a, size_t n)
{
    a->left -= (uint32_t)n;
    if (a->left == 0 && a->item)
        publish(a);
}

static size_t fill(store_apply_t *a, const char *bytes, size_t n)
{
    size_t part = n < a->left ? n : a->left;

    if (a->item)
        store_item_write(a->space, a->item, a->item->length - a->left, bytes,
                         (uint32_t)part);
    store_apply_filled(a, part);
    return part;
}

/* ---- what concerns a space, or all ---- */

static store_space_t *find(const store_apply_t *a, const char *name)
{
    store_space_t *space = a->hooks->find(name);

    return space && store_old_copy_is_shared(&a->old, space) ? space : NULL;
}

static void begin_copy(store_apply_t *a)
{
    a->result.has_begun = 1;
    a->generation = a->hooks->generation();
    store_old_copy_begin(&a->old, a->begins);
    a->result.is_kept = a->old.is_kept;
}

static int take_hello(store_apply_t *a, const store_packet_t *p,
                      const char *list)
{
    const char *why =
        join(a->hooks, a->is_plain, p, list, &a->result.is_declined);

    if (why)
        return fail(a, why);
    if (!a->is_quiet)
        store_hello_compare(a->hooks, a->is_plain, p, list);
    return 0;
}

/* It has come to the master after the copy was complete: its own copy follows,
 * and another COMPLETE. */
static void name_space(store_apply_t *a)
{
    char *is_named = &a->named[a->space->slot];

    if (!*is_named)
        a->result.is_complete = 0;
    *is_named = 1;
}

static int choose_space(store_apply_t *a, const char *key,
                        const store_packet_t *p)
{
    char name[STORE_NAME] = "";

    if (!is_cas(p->number))
        return fail(a, "its cas is out of range");
    memcpy(name, key, p->klen);
    a->has_space = 1;
    a->space = find(a, name);
    if (!a->space)
        return 0;
    name_space(a);
    store_space_raise_cas(a->space, p->number);
    store_space_flush_at(a->space, exptime_here(a, p->exptime));
    return 0;
}

static int flush(store_apply_t *a, const store_packet_t *p)
{
    if (!a->has_space || !is_cas(p->number))
        return fail(a, "it flushes what it has not named");
    if (a->space)
        store_space_flushed(a->space, p->number);
    return 0;
}

/* The first packet decides. yrmcds sends items at once, of the open space. */
static int begin(store_apply_t *a, const store_packet_t *p, const char *list)
{
    const char *open = a->hooks->config->open_space;

    if (p->opcode == STORE_WIRE_HELLO && take_hello(a, p, list) != 0)
        return -1;
    if (p->opcode != STORE_WIRE_HELLO)
        join_yrmcds();
    begin_copy(a);
    if (p->opcode == STORE_WIRE_HELLO)
        return 0;
    a->result.is_yrmcds = a->has_space = 1;
    a->space = find(a, open);
    if (!a->space && !a->is_quiet)
        store_note(STORE_WARN,
                   "the master is a yrmcds: without AppStoreOpenSpace nothing "
                   "of it is kept");
    return 0;
}

static int apply_key(store_apply_t *a, store_packet_t *p, const char *key)
{
    if (!a->has_space)
        return fail(a, "it sends an item before the name of its space");
    if (a->result.is_yrmcds)
        p->cas = p->bits = 0;
    if (!is_cas(p->cas) && !(p->bits & STORE_CAS_CHOSEN))
        return fail(a, "its cas is out of range");
    count(a);
    if (p->opcode == STORE_WIRE_SET)
        begin_set(a, key, p);
    else if (!a->space)
        return 0;
    else if (p->opcode == STORE_WIRE_DELETE)
        remove_key(a, key, p->klen);
    else
        touch(a, key, p);
    return 0;
}

static int apply_other(store_apply_t *a, const store_packet_t *p,
                       const char *key)
{
    if (a->result.is_yrmcds)
        return fail(a, "it sends packets of another kind");
    switch (p->opcode) {
    case STORE_WIRE_HELLO:
        return fail(a, "it sends a second hello");
    case STORE_WIRE_SPACE:
        return choose_space(a, key, p);
    case STORE_WIRE_COMPLETE:
        store_apply_complete(a);
        return 0;
    case STORE_WIRE_MARK:
        return store_mark_take(&a->result.mark, p) == 0
                   ? 0
                   : fail(a, "its position goes back");
    case STORE_WIRE_FLUSHED:
        return flush(a, p);
    default:
        return fail(a, "it says what only a slave says");
    }
}

static int apply_one(store_apply_t *a, store_packet_t *p, const char *key,
                     const char *value)
{
    if (!a->result.has_begun) {
        if (begin(a, p, value) != 0)
            return -1;
        if (p->opcode == STORE_WIRE_HELLO)
            return 0;
    }
    switch (p->opcode) {
    case STORE_WIRE_SET:
    case STORE_WIRE_DELETE:
    case STORE_WIRE_TOUCH:
        return apply_key(a, p, key);
    default:
        return apply_other(a, p, key);
    }
}

/* @return bytes that were used; 0: more are needed; -1: `error` */
static ssize_t packet(store_apply_t *a, const char *bytes, size_t n)
{
    store_packet_t p;
    const char *key;
    int head = store_wire_head(bytes, n, &p, &key);
    size_t size = (size_t)head;

    if (head < 0)
        return fail(a, "it sends what is no packet");
    if (head == 0)
        return 0;
    if (p.opcode == STORE_WIRE_HELLO)
        size += p.value;
    if (n < size)
        return 0;
    if (apply_one(a, &p, key, bytes + head) != 0)
        return -1;
    return (ssize_t)size;
}

ssize_t store_apply_input(store_apply_t *a, const char *bytes, size_t n)
{
    size_t at = 0;

    while (at < n) {
        ssize_t used = a->left > 0 ? (ssize_t)fill(a, bytes + at, n - at)
                                   : packet(a, bytes + at, n - at);

        if (used < 0)
            return -1;
        if (used == 0)
            break;
        at += (size_t)used;
    }
    return (ssize_t)at;
}
