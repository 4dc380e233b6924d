/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/sender.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock_ms.h"
#include "store/clock.h"
#include "store/cluster/confirm.h"
#include "store/cluster/wire.h"
#include "store/memory/item.h"

/* ---- packets ---- */

/* A slave has these bits of an item, too. */
#define SENT_BITS                                                              \
    (STORE_STALE | STORE_TOKEN_SENT | STORE_CAS_CHOSEN | STORE_KEY_BINARY)

/* As the slave understands it. One of ours counts the seconds from now, so that
 * no step of a host's clock expires an item. A yrmcds knows the time of day
 * only. */
static uint32_t time_of(const store_sender_t *s, uint32_t exptime)
{
    uint32_t now = store_clock();

    if (exptime == 0 || !s->ours)
        return store_clock_to_host(exptime);
    return exptime > now ? exptime - now : 1;
}

static int put(store_sender_t *s, const store_packet_t *p, const void *key)
{
    unsigned char head[STORE_WIRE_SMALL_MAX];
    size_t n = store_wire_put(p, key, head);

    return store_slave_link_put(&s->out, head, n);
}

/* With the time since its last use, for a slave of ours. */
static uint32_t bits_of(const store_sender_t *s, const store_item_t *item)
{
    uint32_t bits = STORE_GET(item->bits) & SENT_BITS, now = store_clock(),
             used = STORE_GET(item->used);

    return s->ours ? bits | store_wire_used(used < now ? now - used : 0) : bits;
}

/* What follows is of this space. */
static int name_space(store_sender_t *s, const store_space_t *space)
{
    store_packet_t p = {.opcode = STORE_WIRE_SPACE,
                        .klen = (uint8_t)strlen(space->name),
                        .number = STORE_GET(space->entry->cas),
                        .exptime =
                            time_of(s, STORE_GET(space->entry->flush_at))};

    if (!s->ours || s->space == space)
        return 0;
    s->space = space;
    return put(s, &p, space->name);
}

int store_sender_space(store_sender_t *s, const store_space_t *space)
{
    s->space = NULL;
    return name_space(s, space);
}

static int put_value(store_sender_t *s, const store_space_t *space,
                     const store_item_t *item)
{
    uint32_t at, n;

    for (at = 0; at < item->length; at += n) {
        const char *bytes = store_item_bytes(space, item, at, &n);

        if (store_slave_link_put(&s->out, bytes, n) != 0)
            return -1;
    }
    return 0;
}

int store_sender_item(store_sender_t *s, const store_space_t *space,
                      const store_item_t *item)
{
    store_packet_t p = {.opcode = STORE_WIRE_SET,
                        .klen = item->klen,
                        .value = item->length,
                        .bits = bits_of(s, item),
                        .cas = store_cas(item),
                        .flags = item->flags,
                        .exptime = time_of(s, STORE_GET(item->exptime))};
    const char *key = store_item_key(item);

    if (item->length > STORE_WIRE_VALUE_MAX)
        return 0;
    if (name_space(s, space) != 0 || put(s, &p, key) != 0 ||
        put_value(s, space, item) != 0)
        return -1;
    if (s->ours || item->length > 0 || p.exptime == 0)
        return 0;
    p = (store_packet_t){
        .opcode = STORE_WIRE_TOUCH, .klen = item->klen, .exptime = p.exptime};
    return put(s, &p, key);
}

int store_sender_delete(store_sender_t *s, const store_space_t *space,
                        const char *key, uint8_t klen)
{
    store_packet_t p = {.opcode = STORE_WIRE_DELETE, .klen = klen};

    return name_space(s, space) != 0 ? -1 : put(s, &p, key);
}

int store_sender_touch(store_sender_t *s, const store_space_t *space,
                       const store_item_t *item)
{
    store_packet_t p = {.opcode = STORE_WIRE_TOUCH,
                        .klen = item->klen,
                        .bits = bits_of(s, item),
                        .cas = store_cas(item),
                        .exptime = time_of(s, STORE_GET(item->exptime))};

    return name_space(s, space) != 0 ? -1 : put(s, &p, store_item_key(item));
}

int store_sender_flushed(store_sender_t *s, const store_space_t *space,
                         uint64_t cas)
{
    store_packet_t p = {.opcode = STORE_WIRE_FLUSHED, .number = cas};

    return name_space(s, space) != 0 ? -1 : put(s, &p, "");
}

int store_sender_mark(store_sender_t *s, uint64_t position, int64_t age,
                      int at_once)
{
    store_packet_t p = {.opcode = STORE_WIRE_MARK,
                        .number = position,
                        .clock = (uint32_t)(clock_ms() - age),
                        .bits = at_once ? STORE_WIRE_AT_ONCE : 0};

    if (s->out.has_echoed) {
        p.bits |= STORE_WIRE_HEARD;
        p.cas = s->out.echoed_at;
    }
    s->out.marked = position;
    return put(s, &p, "");
}

int store_sender_complete(store_sender_t *s)
{
    store_packet_t p = {.opcode = STORE_WIRE_COMPLETE};

    return put(s, &p, "");
}

/* ---- the copy ---- */

#define ROOM    256
#define BUCKETS 4096 /* at once, if they have few items */
/* A value that is held cannot be evicted. So few bytes are held while a slow
 * slave takes them, also in a small space. */
#define BYTES   (64 * 1024)

int store_copier_open(store_copier_t *c)
{
    memset(c, 0, sizeof *c);
    c->room = ROOM;
    c->taken = calloc(c->room, sizeof(store_item_t *));
    return c->taken ? 0 : -1;
}

unsigned store_copier_add(store_copier_t *c, store_space_t *space)
{
    unsigned i;

    for (i = 0; i < c->n_spaces; i++)
        if (c->space[i] == space)
            return 0;
    if (i == STORE_SPACES)
        return 0;
    c->space[c->n_spaces++] = space;
    return 1;
}

void store_copier_close(store_copier_t *c)
{
    free(c->taken);
    c->taken = NULL;
}

/* Under the lock of the bucket. */
static void take(void *ctx, const store_item_t *item)
{
    store_copier_t *c = ctx;

    c->is_full |= c->n == c->room;
    if (c->is_full)
        return;
    c->taken[c->n] = (store_item_t *)(uintptr_t)item;
    store_item_keep(c->taken[c->n++]);
    c->bytes += item->length;
}

static void give_back(store_copier_t *c, unsigned from)
{
    while (c->n > from)
        store_item_release(c->space[c->at], c->taken[--c->n]);
}

/* @return 0: no memory, so the items of the bucket are not sent */
static int make_room(store_copier_t *c)
{
    store_item_t **more =
        realloc(c->taken, 2 * c->room * sizeof(store_item_t *));

    if (!more)
        return 0;
    c->taken = more;
    c->room *= 2;
    return 1;
}

/* @return 0: that was the last bucket of the space; -1: no memory */
static int take_bucket(store_copier_t *c)
{
    unsigned before = c->n;
    uint32_t bucket = c->bucket;
    int more = store_index_walk(c->space[c->at], &c->bucket, 1, take, c);

    if (!c->is_full)
        return more;
    /* Once more, with all its items. */
    c->is_full = 0;
    give_back(c, before);
    c->bucket = bucket;
    return make_room(c) ? 1 : -1;
}

static int is_present(const store_space_t *space, const store_item_t *item)
{
    return store_state(item) == STORE_LIVE && !store_flushed(space, item) &&
           !store_expired(item, store_clock());
}

static int send_taken(store_copier_t *c, store_sender_t *to)
{
    const store_space_t *space = c->space[c->at];
    unsigned i;
    int rv = 0;

    for (i = 0; i < c->n && rv == 0; i++)
        if (is_present(space, c->taken[i])) {
            rv = store_sender_item(to, space, c->taken[i]);
            c->items++;
        }
    give_back(c, 0);
    c->bytes = 0;
    return rv;
}

int store_copier_run(store_copier_t *c, store_sender_t *to)
{
    unsigned buckets;
    int more = 1;

    if (store_copier_is_done(c))
        return 0;
    if (c->bucket == 0 && store_sender_space(to, c->space[c->at]) != 0)
        return -1;
    for (buckets = 0;
         more > 0 && buckets < BUCKETS && c->n < ROOM && c->bytes < BYTES;
         buckets++)
        more = take_bucket(c);
    if (more < 0)
        to->out.why = "no memory";
    if (send_taken(c, to) != 0 || more < 0)
        return -1;
    if (!more) {
        c->at++;
        c->bucket = 0;
    }
    return 0;
}

/* ---- changes ---- */

#define CLEARED 1024 /* that are cleared at once */

int store_change_sender_is_for(const store_change_sender_t *p,
                               const store_space_t *space)
{
    return !p->only || strcmp(p->only, space->name) == 0;
}

/* An item whose cas was chosen by a client is killed by each flush that it
 * follows here. So what was sent before the flush is sent again. */
static int send_flush(store_change_sender_t *p, store_sender_t *to,
                      const store_change_t *c)
{
    memset(p->sent, 0, sizeof p->sent);
    if (to->ours)
        return store_sender_flushed(to, c->space, c->cas);
    p->clearing = c->space;
    p->bucket = 0;
    return 0;
}

/* What is there of the key of a change. */
typedef struct {
    int is_sent;        /* the slave was sent a state that is as new */
    int is_touched;     /* only the expiry time has changed */
    store_item_t *item; /* with a reference; NULL: there is none */
} state_t;

/* The hash is secret, so nobody finds two keys that have the same. */
static store_sent_t *place(store_change_sender_t *p, const store_change_t *c,
                           uint64_t hash)
{
    store_sent_t *s =
        &p->sent[(hash ^ c->space->slot) % STORE_CHANGE_SENDER_SENT];

    if (s->hash != (hash ^ c->space->slot)) {
        s->hash = hash ^ c->space->slot;
        s->position = 0;
    }
    return s;
}

/* Each change is noted under the lock of its bucket. So what is found has all
 * changes of the key that were counted before the lock was taken. A touch sends
 * no value, so what was sent of the key is no newer by it. */
static void look_up(store_change_sender_t *p, const store_change_t *c,
                    state_t *found)
{
    uint64_t position = store_changes_position();
    store_bucket_t bucket;
    store_sent_t *sent;

    memset(found, 0, sizeof *found);
    store_index_lock(&bucket, c->space, c->key, c->klen);
    sent = place(p, c, bucket.hash);
    found->is_sent = sent->position >= c->position;
    if (!found->is_sent)
        found->item = store_index_find(&bucket, NULL);
    if (found->item)
        store_item_keep(found->item);
    found->is_touched = found->item && c->kind == STORE_CHANGE_TOUCH &&
                        store_cas(found->item) == c->cas;
    if (!found->is_sent && !found->is_touched)
        sent->position = position;
    store_index_unlock(&bucket);
}

static int send_item(store_sender_t *to, const store_change_t *c,
                     const state_t *found)
{
    int rv = found->is_touched ? store_sender_touch(to, c->space, found->item)
                               : store_sender_item(to, c->space, found->item);

    store_item_release(c->space, found->item);
    return rv;
}

static int send_change(store_change_sender_t *p, store_sender_t *to,
                       const store_change_t *c)
{
    state_t found;

    if (!p->has[c->space->slot])
        return 0;
    if (c->kind == STORE_CHANGE_FLUSH)
        return send_flush(p, to, c);
    if (c->kind == STORE_CHANGE_FLUSH_LATER)
        return store_sender_space(to, c->space);
    look_up(p, c, &found);
    if (found.is_sent)
        return 0;
    return found.item ? send_item(to, c, &found)
                      : store_sender_delete(to, c->space, c->key, c->klen);
}

int store_change_sender_run(store_change_sender_t *p, store_sender_t *to)
{
    size_t n = STORE_CHANGE_SENDER_BATCH, i;

    if (store_changes_read(&p->cursor, p->changes, &n) != 0)
        return store_slave_link_overtaken(&to->out);
    if (n > 0 && p->look)
        p->look(p->ctx);
    for (i = 0; i < n; i++)
        if (send_change(p, to, &p->changes[i]) != 0)
            return -1;
    return (int)n;
}

int store_change_sender_clear(store_change_sender_t *p)
{
    if (!p->clearing)
        return 0;
    if (!store_index_clear(p->clearing, &p->bucket, CLEARED, STORE_CLEAR_DEAD))
        p->clearing = NULL;
    return 1;
}

/* ---- what is gathered, and marks ---- */

#define MARK   1000 /* ms from one mark to the next, at most */

/* From one packet of changes to the next, ns. Changes that come in between go
 * with it: a wake-up and a call to send cost more than a change. */
#define GATHER 300000
#define SECOND 1000000000

/* From one packet to the next while a client waits, ns: so much for each change
 * of the last packet, and no more than GATHER. So only changes that come fast
 * are gathered, and one that comes alone is sent at once. */
#define EACH   20000

static int is_due(const store_push_t *p, const store_sender_t *to,
                  const store_cursor_t *cursor, int64_t now)
{
    return cursor->position != to->out.marked || now - p->marked_at >= MARK ||
           p->has_echoed != to->out.has_echoed;
}

static int mark(store_push_t *p, store_sender_t *to,
                const store_cursor_t *cursor)
{
    int64_t age, now = clock_ms();

    if (!to->ours || !is_due(p, to, cursor, now) ||
        !store_confirm_grants(to->out.slot, cursor->position, now))
        return 0;
    p->marked_at = now;
    p->has_echoed = to->out.has_echoed;
    store_changes_lag(cursor, &age);
    return store_sender_mark(to, cursor->position, age,
                             store_confirm_is_wanted());
}

/* A key that this thread has looked up may have expired. Then it was removed,
 * which is a change that the feeders of the other slaves are woken for. */
int store_push(store_push_t *p, store_sender_t *to,
               const store_cursor_t *cursor)
{
    if (mark(p, to, cursor) != 0 || store_slave_link_flush(&to->out) != 0)
        return -1;
    store_changes_sent(cursor);
    store_changes_ring();
    p->changes = cursor->n - p->sent;
    p->sent = cursor->n;
    clock_gettime(CLOCK_MONOTONIC, &p->at);
    return 0;
}

static int64_t ns_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - then->tv_sec) * SECOND + now.tv_nsec -
           then->tv_nsec;
}

int store_push_is_early(const store_push_t *p, const store_slave_link_t *out)
{
    return out->echoed < out->marked && store_confirm_is_awaited() &&
           ns_since(&p->at) < STORE_PUSH_PATIENCE * (SECOND / 1000);
}

/* ns from the last push to the next one, at least. */
static long pause_after(const store_push_t *p)
{
    return store_confirm_is_awaited() && p->changes < GATHER / EACH
               ? (long)p->changes * EACH
               : GATHER;
}

void store_push_gather(const store_push_t *p)
{
    struct timespec until = p->at;
    long pause = pause_after(p);

    if (ns_since(&p->at) >= pause)
        return;
    until.tv_nsec += pause;
    if (until.tv_nsec >= SECOND) {
        until.tv_nsec -= SECOND;
        until.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
