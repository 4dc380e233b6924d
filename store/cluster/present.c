/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/present.h"

#include <string.h>

#include "store/memory/index.h"

#define BUCKETS 1024 /* that are cleared at once */

int store_present_is_for(const store_present_t *p, const store_space_t *space)
{
    return !p->only || strcmp(p->only, space->name) == 0;
}

static int send_flush(store_present_t *p, store_sender_t *to,
                      const store_change_t *c)
{
    if (to->ours)
        return store_sender_flushed(to, c->space, c->cas);
    p->clearing = c->space;
    p->bucket = 0;
    return 0;
}

/* The item of a change, with a reference. @param absent gets 1 if there is none
 * @return NULL: another change follows, or there is none */
static store_item_t *look_up(const store_change_t *c, int *absent)
{
    store_bucket_t bucket;
    store_item_t *item;

    store_index_lock(&bucket, c->space, c->key, c->klen);
    item = store_index_find(&bucket, NULL);
    *absent = item == NULL;
    if (item && (c->kind == STORE_CHANGE_REMOVE || store_cas(item) != c->cas))
        item = NULL;
    if (item)
        store_item_keep(item);
    store_index_unlock(&bucket);
    return item;
}

static int send_item(store_sender_t *to, const store_change_t *c,
                     store_item_t *item)
{
    int rv = c->kind == STORE_CHANGE_TOUCH
                 ? store_sender_touch(to, c->space, c->key, c->klen,
                                      STORE_GET(item->exptime))
                 : store_sender_item(to, c->space, item);

    store_item_release(c->space, item);
    return rv;
}

static int send_change(store_present_t *p, store_sender_t *to,
                       const store_change_t *c)
{
    store_item_t *item;
    int absent;

    if (!p->has[c->space->slot])
        return 0;
    if (c->kind == STORE_CHANGE_FLUSH)
        return send_flush(p, to, c);
    if (c->kind == STORE_CHANGE_FLUSH_LATER)
        return store_sender_space(to, c->space);
    item = look_up(c, &absent);
    if (item)
        return send_item(to, c, item);
    if (absent && c->kind == STORE_CHANGE_REMOVE)
        return store_sender_delete(to, c->space, c->key, c->klen);
    return 0;
}

int store_present_run(store_present_t *p, store_sender_t *to)
{
    size_t n = STORE_PRESENT_BATCH, i;

    if (store_changes_read(&p->cursor, p->changes, &n) != 0)
        return store_outbox_overtaken(&to->out);
    for (i = 0; i < n; i++)
        if (send_change(p, to, &p->changes[i]) != 0)
            return -1;
    return (int)n;
}

int store_present_clear(store_present_t *p)
{
    if (!p->clearing)
        return 0;
    if (!store_index_clear(p->clearing, &p->bucket, BUCKETS, 0))
        p->clearing = NULL;
    return 1;
}
