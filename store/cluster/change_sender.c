/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/change_sender.h"

#include <string.h>

#include "store/memory/item.h"

#define BUCKETS 1024 /* that are cleared at once */

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
    if (!store_index_clear(p->clearing, &p->bucket, BUCKETS, STORE_CLEAR_DEAD))
        p->clearing = NULL;
    return 1;
}
