/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Three ways lead to room: to remove an item, to remove all items of a
 * page, and to bring those of a page that are worth it to other pages of
 * their class. */

#include "store/memory/evict.h"

#include <string.h>

#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/chunk.h"
#include "store/memory/table.h"

/* ---- one item ---- */

static void count_eviction(store_space_t *space, const store_item_t *item,
                           uint32_t now)
{
    int class_ =
        store_chunk_class(space, store_chunk_page(store_ref(space, item)));
    store_class_stat_t *stat = store_chunk_stat(space, (unsigned)class_);

    stat->evictions++;
    stat->evicted_age = store_age(item, now);
    STORE_ADD(space->figures->evictions, 1);
    STORE_SET(space->figures->evicted_age, stat->evicted_age);
}

static void count(store_space_t *space, const store_item_t *item, uint32_t now,
                  int dead, store_evict_why_t why)
{
    store_space_figures_t *figures = space->figures;

    STORE_ADD(figures->items, (uint64_t)-1);
    STORE_ADD(figures->item_bytes, -(uint64_t)store_item_size(item));
    if (!dead && why == STORE_EVICT_LARGE)
        STORE_ADD(figures->evictions, 1);
    else if (!dead)
        count_eviction(space, item, now);
    else if (why == STORE_EVICT_SWEPT)
        STORE_ADD(figures->expired, 1);
    else
        STORE_ADD(figures->reclaimed, 1);
}

static int may_live(store_evict_why_t why)
{
    return why == STORE_EVICT_LIVING || why == STORE_EVICT_LARGE;
}

int store_evict_item(store_space_t *space, store_item_t *item, uint32_t now,
                     store_evict_why_t why)
{
    uint64_t hash;
    int dead, taken;

    if (!store_unused(item))
        return 0;
    hash = store_table_hash(store_item_key(item), item->klen);
    if (!store_table_try(space->table, hash))
        return 0;
    dead = store_dead(space, item, now);
    taken = store_unused(item) && (dead || may_live(why));
    if (taken) {
        store_table_unlink(space, hash, item);
        store_state_set(item, STORE_FREE);
        store_changes_add(space, STORE_CHANGE_REMOVE, store_item_key(item),
                          item->klen, store_cas(item));
    }
    store_table_unlock(space->table, hash);
    if (taken) {
        count(space, item, now, dead, why);
        store_piece_free(space, item);
    }
    return taken;
}

/* ---- the one of a class that was unused longest ---- */

#define CANDIDATES 16
#define ROUNDS     8 /* of candidates, until one can be removed */
/* Chunks that are looked at. Many may be written to or read now, and are no
 * candidates. */
#define LOOKS      4096

/* The oldest of these and of the one that is known.
 * @return how many there are; -1: one was dead, and is removed */
static int oldest_of(store_space_t *space, const store_sample_t *sample,
                     uint32_t now, store_item_t **oldest)
{
    store_item_t *found = *oldest;
    uint32_t used = found ? STORE_GET(found->used) : 0;
    int n = 0;
    unsigned i;

    for (i = 0; i < sample->n; i++) {
        store_item_t *item = store_owner(space, sample->chunk[i]);

        if (!store_unused(item))
            continue;
        if (store_dead(space, item, now) &&
            store_evict_item(space, item, now, STORE_EVICT_DEAD))
            return -1;
        n++;
        if (found && STORE_GET(item->used) > used)
            continue;
        if (!found || store_older(item, found)) {
            found = item;
            used = STORE_GET(item->used);
        }
    }
    *oldest = found;
    return n;
}

/* The least recently used of some items of the class, unless one of them is
 * dead: that one is removed. @param freed 1: something was freed
 * @return NULL also if no item can be removed */
static store_item_t *victim_of(store_space_t *space, unsigned class_,
                               uint32_t now, int *freed)
{
    int candidates = 0, looks;
    store_item_t *oldest = NULL;
    store_sample_t sample;

    *freed = 0;
    for (looks = 0; looks < LOOKS && candidates < CANDIDATES;
         looks += STORE_SAMPLE) {
        int n;

        store_chunk_sample(space, class_, &sample);
        n = oldest_of(space, &sample, now, &oldest);
        *freed = n < 0;
        if (*freed || sample.n == 0)
            return NULL;
        candidates += n;
    }
    return oldest;
}

/* @return 1: something was freed. 0: there is no room */
static int evict_of(store_space_t *space, unsigned class_)
{
    uint32_t now = store_clock();
    int rounds, freed = 0;

    for (rounds = 0; rounds < ROUNDS; rounds++) {
        store_item_t *item = victim_of(space, class_, now, &freed);

        if (!item)
            return freed;
        if (STORE_GET(space->evict) &&
            store_evict_item(space, item, now, STORE_EVICT_LIVING))
            return 1;
    }
    return 0;
}

/* ---- a large value ----
 *
 * Large values may use memory that is free. But if memory is short, and they
 * have more than half of their space, the large value goes that was unused
 * longest, whoever needs the room. So half of a space is for the other ones. */

#define LARGE_ONES 64 /* a space with less has them all in this number */

/* @return 0: they have no more than half, or none can be removed */
static int evict_large(store_space_t *space)
{
    uint32_t now = store_clock();
    store_evict_why_t why =
        STORE_GET(space->evict) ? STORE_EVICT_LARGE : STORE_EVICT_DEAD;
    store_item_t *oldest = NULL, *first = NULL, *item;
    int n;

    if (!store_large_exceed(space))
        return 0;
    for (n = 0; n < LARGE_ONES; n++) {
        item = store_large_next(space);
        if (!item || item == first)
            break;
        first = first ? first : item;
        if (!store_unused(item))
            continue;
        if (store_evict_item(space, item, now, STORE_EVICT_DEAD))
            return 1;
        if (!oldest || store_older(item, oldest))
            oldest = item;
    }
    return oldest && store_evict_item(space, oldest, now, why);
}

/* ---- the age of a class ----
 *
 * An age is s since the last use. The oldest item of a sample is what a class
 * evicts. The age of the class is the mean of these, of the last 32 samples or
 * so. So one number says what a class evicts, and what it would evict if it had
 * to: a class that does not evict has a sample each second, and one when a page
 * of it was emptied. Samples differ, and the oldest item of all classes is
 * older than what each of them evicts. So without the mean, equal classes would
 * exchange pages all the time. Heads and ends of values in pieces are not in
 * the samples: their page is not what such a value would give. */

#define PART  16 /* the age of a class is in such parts of a second */
#define STALE 10 /* s: after so long an age says nothing */
#define MEAN  32 /* samples */

static int has_older(const store_class_info_t *c,
                     const store_class_info_t *than)
{
    return c->has_dead != than->has_dead ? c->has_dead : c->age > than->age;
}

/* The class with the oldest items, or with dead ones, of those that are not
 * tried yet; of two with the same age the larger one, whose page has fewer
 * items.
 * @return STORE_CLASSES: the others have no page */
static unsigned oldest_class(const store_space_t *space, const char *tried)
{
    const store_class_info_t *c = space->chunks->class_;
    unsigned i, found = STORE_CLASSES;

    for (i = STORE_CLASSES; i-- > 0;)
        if (!tried[i] && c[i].hand != STORE_NO_PAGE &&
            (found == STORE_CLASSES || has_older(&c[i], &c[found])))
            found = i;
    return found;
}

/* A class that has one page keeps it. */
static void settle(store_space_t *space)
{
    const store_class_info_t *c = space->chunks->class_;
    char tried[STORE_CLASSES];
    unsigned i;

    for (i = 0; i < STORE_CLASSES; i++)
        tried[i] = c[i].stat.pages < 2;
    space->chunks->oldest = oldest_class(space, tried);
}

/* The oldest item of a sample of the class has this age, s.
 * @return the age of the class, in 1/PART s */
static uint32_t note_age(store_class_info_t *c, uint32_t age, uint32_t now)
{
    int64_t is = (int64_t)age * PART, was = c->age;

    if (c->aged_at != 0 && now - c->aged_at <= STALE)
        is = was + (is - was) / MEAN;
    c->age = (uint32_t)is;
    c->aged_at = now;
    return c->age;
}

static void look_at(store_space_t *space, unsigned class_, uint32_t now)
{
    store_class_info_t *c = &space->chunks->class_[class_];
    const store_item_t *oldest = NULL;
    store_sample_t sample;
    unsigned i;

    c->oldest_page = STORE_NO_PAGE;
    c->has_dead = 0;
    store_chunk_sample(space, class_, &sample);
    for (i = 0; i < sample.n && !c->has_dead; i++) {
        store_ref_t ref = store_ref(space, sample.chunk[i]);
        const store_item_t *item = store_owner(space, sample.chunk[i]);

        if (!store_unused(item))
            continue;
        c->has_dead = !STORE_GET(space->evict) && store_dead(space, item, now);
        if (!c->has_dead && store_piece_is_part(sample.chunk[i], class_))
            continue;
        if (c->has_dead || !oldest || store_older(item, oldest)) {
            oldest = item;
            c->oldest_page = store_chunk_page(ref);
        }
    }
    if (oldest)
        note_age(c, store_age(oldest, now), now);
}

/* At a class that was looked at in this second. */
static void look_again(store_space_t *space, unsigned class_, uint32_t now)
{
    look_at(space, class_, now);
    settle(space);
}

/* If nobody did in this second. */
static void look_at_all(store_space_t *space, uint32_t now)
{
    unsigned i;

    if (space->chunks->looked_at == now)
        return;
    space->chunks->looked_at = now;
    for (i = 0; i < STORE_CLASSES; i++)
        if (space->chunks->class_[i].hand != STORE_NO_PAGE)
            look_at(space, i, now);
    settle(space);
}

/* Nothing of this class can be removed in this second. */
static void forget_age(store_space_t *space, unsigned class_)
{
    store_class_info_t *c = &space->chunks->class_[class_];

    c->oldest_page = STORE_NO_PAGE;
    c->has_dead = 0;
    c->age = c->aged_at = 0;
    settle(space);
}

/* ---- an item goes to another chunk ----
 *
 * It stays what it is: its cas, its times and its bits. So nobody notices, and
 * it is no change for a slave. The head of a value in pieces stays where it is,
 * because each piece names it. A thread that holds the bucket, or has a
 * reference, keeps the item in its place.
 *
 * A copy is LIVE when it is complete, and the original is FREE after that.
 * After a crash in between there are two with the same cas, and the recovery
 * takes one of them. A piece is moved by one store, to the link that leads to
 * it; what is not reached is free. */

#define REMOVED 8 /* at most; they may be in the page that is closed */

/* Can it never go to another chunk? */
static int is_fixed(const store_item_t *item)
{
    return store_state(item) == STORE_LIVE &&
           (STORE_GET(item->bits) & STORE_CHAINED);
}

/* A free page is for the class that needs one.
 * @return 0: there is no room */
static store_ref_t room(store_space_t *space, unsigned class_)
{
    const store_class_info_t *c = &space->chunks->class_[class_];
    int tries;

    for (tries = 0; tries < REMOVED && c->roomy == STORE_NO_PAGE; tries++)
        if (!evict_of(space, class_))
            return 0;
    return c->roomy == STORE_NO_PAGE ? 0 : store_chunk_take(space, class_);
}

/* All but the state, which comes last. */
static void copy(store_item_t *to, const store_item_t *from)
{
    store_item_t header = *from;

    memcpy(store_item_key(to), store_item_key(from),
           (size_t)from->klen + from->length);
    header.state = STORE_WRITING;
    *to = header;
}

static void move_item(store_space_t *space, uint64_t hash, store_item_t *item,
                      store_item_t *to)
{
    copy(to, item);
    store_state_set(to, STORE_LIVE);
    store_table_replace(space, hash, item, to);
}

/* The new piece is not reached, and then the old one is not. The first piece of
 * a large value takes its place in their ring along (chunk.h). */
static void move_piece(store_space_t *space, store_item_t *head,
                       store_item_t *piece, store_item_t *to)
{
    copy(to, piece);
    store_state_set(to, STORE_PIECE);
    store_piece_replace(space, head, piece, to);
}

/* @return 1: it was moved. 0: it is in use */
static int move_chunk(store_space_t *space, store_item_t *chunk,
                      store_item_t *to)
{
    store_item_t *head = store_owner(space, chunk);
    uint64_t hash = store_table_hash(store_item_key(head), head->klen);
    int unused;

    if (!store_table_try(space->table, hash))
        return 0;
    unused = store_unused(head);
    if (unused && head == chunk)
        move_item(space, hash, chunk, to);
    else if (unused)
        move_piece(space, head, chunk, to);
    store_table_unlock(space->table, hash);
    return unused;
}

/* Move what is in a chunk of a page that is closed to another page of the
 * class. If there is no free chunk, a dead item goes for it, or with eviction
 * the one that was unused longest.
 * @return 1: the chunk is free. 0: it stays */
static int rescue(store_space_t *space, store_ref_t ref)
{
    store_item_t *chunk = store_at(space, ref);
    int class_ = store_chunk_class(space, store_chunk_page(ref)), moved;
    store_ref_t to;

    if (is_fixed(chunk) || !store_unused(store_owner(space, chunk)))
        return 0;
    to = room(space, (unsigned)class_);
    /* Room for it was perhaps made of itself. */
    moved = to && store_state(chunk) != STORE_FREE &&
            move_chunk(space, chunk, store_at(space, to));
    if (moved)
        store_chunk_give(space, ref);
    else if (to)
        store_chunk_give(space, to);
    return store_state(chunk) == STORE_FREE;
}

/* ---- a page is emptied ---- */

#define TRIES 4 /* pages of a class that are emptied; for a chunk of one */
/* Pages that are looked at. Many may have an item that is in use. */
#define PAGES 256
/* Chunks of those that have more living items than there is room for. */
#define FULL  1024
#define TURN  32 /* chunks of a page before others get the lock */
/* Pages with free chunks, of which the emptiest is taken. */
#define ROOMY 16
/* After a refusal, so many chunks that are given back may be a page. */
#define GIVEN 64
#define ALL   UINT32_MAX /* of the living items are young */

/* Which living items go. */
typedef struct {
    uint32_t young; /* s: not those that were used since then */
    int all;        /* also heads of values, and their ends */
} choice_t;

/* Does what is in the chunk stay in the space? It is not dead. */
static int stays(const store_space_t *space, store_ref_t ref,
                 const store_item_t *owner, choice_t go, uint32_t now)
{
    int class_;

    if (store_age(owner, now) < go.young)
        return 1;
    if (go.all)
        return 0;
    class_ = store_chunk_class(space, store_chunk_page(ref));
    return store_piece_is_part(store_at(space, ref), (unsigned)class_);
}

/* What is in a page. */
typedef struct {
    uint32_t used;  /* chunks with an item */
    uint32_t young; /* items that stay in the space */
    uint32_t dead;
} content_t;

/* Is no chunk of the page used, does no other thread empty it, and can those
 * that stay go to another page? An item that has gone may still be read: its
 * state is FREE, and its chunk is not. */
static int can_go(const store_space_t *space, uint32_t page, unsigned class_,
                  choice_t go, content_t *has)
{
    uint32_t n = store_class_chunks(class_), now = store_clock(), i;

    *has = (content_t){0, 0, 0};
    if (space->chunks->page[page].closed)
        return 0;
    for (i = 0; i < n; i++) {
        store_ref_t ref = store_page_chunk(page, class_, i);
        const store_item_t *item = store_at(space, ref), *owner;

        if (store_state(item) == STORE_FREE)
            continue;
        has->used++;
        owner = store_owner(space, store_at(space, ref));
        if (!store_unused(owner))
            return 0;
        if (store_dead(space, owner, now))
            has->dead++;
        else if (stays(space, ref, owner, go, now)) {
            has->young++;
            if (is_fixed(item))
                return 0;
        }
    }
    return has->used == space->chunks->page[page].used;
}

/* Is there room for those that stay, if none may be evicted for them? The other
 * pages may have as many dead items as this one. */
static int has_room(const store_space_t *space, uint32_t page, unsigned class_,
                    const content_t *has)
{
    const store_class_stat_t *stat = &space->chunks->class_[class_].stat;
    uint64_t others = stat->pages - 1,
             used = stat->used - space->chunks->page[page].used;

    return STORE_GET(space->evict) ||
           used + has->young <=
               others * (store_class_chunks(class_) + has->dead);
}

static int remove_or_rescue(store_space_t *space, store_ref_t ref, choice_t go)
{
    uint32_t now = store_clock();
    store_item_t *item = store_owner(space, store_at(space, ref));

    if (store_dead(space, item, now))
        return store_evict_item(space, item, now, STORE_EVICT_DEAD);
    if (stays(space, ref, item, go, now))
        return rescue(space, ref);
    return store_evict_item(space, item, now, STORE_EVICT_LIVING);
}

/* A thread that has the bucket of the item may wait for the lock of the chunks.
 * So that is given back until the bucket is free.
 * @return 0: nobody has it */
static int give_way(store_space_t *space, const store_item_t *item)
{
    uint64_t hash = store_table_hash(store_item_key(item), item->klen);

    if (store_table_try(space->table, hash)) {
        store_table_unlock(space->table, hash);
        return 0;
    }
    store_chunk_unlock(space);
    store_table_lock(space->table, hash);
    store_table_unlock(space->table, hash);
    store_chunk_lock(space);
    return 1;
}

/* @return 1: nothing is in the chunk */
static int free_chunk(store_space_t *space, store_ref_t ref, choice_t go)
{
    store_item_t *chunk = store_at(space, ref), *item;
    int tries;

    for (tries = 0; tries < TRIES; tries++) {
        if (store_state(chunk) == STORE_FREE ||
            remove_or_rescue(space, ref, go))
            return 1;
        item = store_owner(space, chunk);
        if (!store_unused(item) || !give_way(space, item))
            return 0;
    }
    return 0;
}

static int empty(store_space_t *space, uint32_t page, unsigned class_,
                 choice_t go)
{
    uint32_t n = store_class_chunks(class_), i;
    int missed = 0;

    store_page_close(space, page);
    for (i = 0; i < n && !missed; i++) {
        missed = !free_chunk(space, store_page_chunk(page, class_, i), go);
        if (i % TURN == TURN - 1) {
            store_chunk_unlock(space);
            store_chunk_lock(space);
        }
    }
    return store_page_open(space, page);
}

/* ---- a page of a class ---- */

static uint32_t emptiest(const store_space_t *space, uint32_t page)
{
    const store_page_info_t *p = space->chunks->page;
    uint32_t found = page;
    int i;

    for (i = 0; i < ROOMY && page != STORE_NO_PAGE; i++) {
        found = p[page].used < p[found].used ? page : found;
        page = p[page].roomy_next;
    }
    return found;
}

/* Without eviction there is nothing to choose between living items, so the page
 * is taken that has least to move. */
static uint32_t first_page(const store_space_t *space, unsigned class_)
{
    const store_class_info_t *c = &space->chunks->class_[class_];

    if (!STORE_GET(space->evict) && !c->has_dead && c->roomy != STORE_NO_PAGE)
        return emptiest(space, c->roomy);
    if (c->oldest_page != STORE_NO_PAGE &&
        store_chunk_class(space, c->oldest_page) == (int)class_)
        return c->oldest_page;
    return c->hand;
}

/* @return 1: a page is free */
static int empty_one(store_space_t *space, unsigned class_, choice_t go)
{
    uint32_t page = first_page(space, class_), full = 0;
    int tries = 0, looks;

    for (looks = 0;
         looks < PAGES && tries < TRIES && full < FULL && page != STORE_NO_PAGE;
         looks++) {
        uint32_t next = space->chunks->page[page].next;
        content_t has;

        if (can_go(space, page, class_, go, &has)) {
            if (has_room(space, page, class_, &has)) {
                tries++;
                if (empty(space, page, class_, go))
                    return 1;
                /* The lock was given back. */
                next = space->chunks->class_[class_].hand;
            }
            else {
                full += store_class_chunks(class_);
            }
        }
        page = next;
    }
    return 0;
}

static int move_from(store_space_t *space, unsigned class_, choice_t go)
{
    if (!STORE_GET(space->evict))
        go.young = ALL;
    if (!empty_one(space, class_, go)) {
        forget_age(space, class_);
        return 0;
    }
    STORE_ADD(space->figures->page_moves, 1);
    look_again(space, class_, store_clock());
    return 1;
}

int store_evict_page_of(store_space_t *space, unsigned class_, uint32_t young)
{
    return move_from(space, class_, (choice_t){young, 0});
}

/* ---- which class ---- */

/* @param all also items that were used lately, and heads of values */
static int try_each(store_space_t *space, unsigned class_, int all)
{
    char tried[STORE_CLASSES] = {0};
    unsigned from;

    if (class_ < STORE_CLASSES)
        tried[class_] = 1;
    look_at_all(space, store_clock());
    while ((from = oldest_class(space, tried)) != STORE_CLASSES) {
        uint32_t age = space->chunks->class_[from].age / PART;

        choice_t go = {all ? 0 : (age + 1) / 2, all};

        if (move_from(space, from, go))
            return 1;
        tried[from] = 1;
    }
    return 0;
}

/* Nothing could be moved, and nothing has changed that matters. */
static int is_refused(const store_space_t *space, const store_class_info_t *c)
{
    return !STORE_GET(space->evict) && c->refused_at == store_clock() &&
           space->chunks->given - c->refused_given < GIVEN;
}

int store_evict_page_for(store_space_t *space, unsigned class_)
{
    store_class_info_t *c =
        class_ < STORE_CLASSES ? &space->chunks->class_[class_] : NULL;

    if (c && is_refused(space, c))
        return 0;
    if (try_each(space, class_, 0) ||
        (STORE_GET(space->evict) && try_each(space, class_, 1)))
        return 1;
    if (c) {
        c->refused_at = store_clock();
        c->refused_given = space->chunks->given;
    }
    return 0;
}

/* ---- room for a chunk ----
 *
 * A chunk serves one size only. So a class evicts one of its own items, which
 * is cheap, as long as no other class has items that are clearly older. Else a
 * page of that class goes to this one.
 *
 * Clearly older: by more than a quarter, and by more than one second. So equal
 * classes exchange no pages. And no class loses its last page in this way:
 * small items need few pages, and bring as many hits as others. */

/* @param mine the age of the class that needs room
 * @return the class that is to give a page. STORE_CLASSES: none */
static unsigned older_class(const store_space_t *space, unsigned class_,
                            uint32_t mine, uint32_t *young)
{
    const store_class_info_t *c = space->chunks->class_;
    unsigned from = space->chunks->oldest;
    uint32_t other;

    if (from == class_ || from == STORE_CLASSES)
        return STORE_CLASSES;
    other = c[from].age;
    if (other <= (uint64_t)mine + mine / 4 + PART)
        return STORE_CLASSES;
    *young = (other / PART + 1) / 2;
    if (*young < mine / PART)
        *young = mine / PART;
    return from;
}

/* Of the oldest class that can give one. What cannot is forgotten for a second.
 * @return 1: a page is free. 0: no class is older. -1: none can give a page */
static int page_of_older(store_space_t *space, unsigned class_,
                         const store_item_t *victim, uint32_t now)
{
    uint32_t young, mine = note_age(&space->chunks->class_[class_],
                                    store_age(victim, now), now);
    unsigned i, from;

    look_at_all(space, now);
    for (i = 0; i < STORE_CLASSES; i++) {
        from = older_class(space, class_, mine, &young);
        if (from == STORE_CLASSES)
            break;
        if (store_evict_page_of(space, from, young))
            return 1;
    }
    return i == 0 ? 0 : -1;
}

static int balance(store_space_t *space, unsigned class_)
{
    uint32_t now = store_clock();
    int freed, moved;
    store_item_t *victim = victim_of(space, class_, now, &freed);

    if (freed)
        return 1;
    if (victim && STORE_GET(space->evict)) {
        moved = page_of_older(space, class_, victim, now);
        /* If none can, the lock was given back, and the victim may be gone. */
        if (moved > 0 || (moved == 0 && store_evict_item(space, victim, now,
                                                         STORE_EVICT_LIVING)))
            return 1;
    }
    return evict_of(space, class_) || store_evict_page_for(space, class_);
}

int store_evict(store_space_t *space, unsigned class_)
{
    return evict_large(space) || balance(space, class_);
}
