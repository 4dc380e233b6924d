/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slot.h
 * @brief Take a free slot of a slot array, and put it back: the same for all
 *        four slot arrays.
 *
 * The free slots up to the mark of use (header.top_*) are in a list. Slots
 * above the mark are free as well, and in no list.
 *
 * Lock:  needed by all.
 * Crash: repair.c finds a free slot that is in no list.
 * Trust: a slot of the list that is not free, or not in the slot array, is
 *        damage.
 */
#ifndef APPPOOL_SHM_FORMAT_SLOT_H
#define APPPOOL_SHM_FORMAT_SLOT_H

#include "shm/format/list.h"

_Static_assert(offsetof(apl_group_t, state) == 0 &&
                   offsetof(apl_process_t, state) == 0 &&
                   offsetof(apl_session_t, state) == 0 &&
                   offsetof(apl_child_t, state) == 0,
               "a slot begins with its state");
_Static_assert(APL_GROUP_FREE == 0 && APL_PROCESS_FREE == 0 &&
                   APL_SESSION_FREE == 0 && APL_CHILD_FREE == 0,
               "a slot in state 0 is free");

/** One of the slot arrays. */
typedef struct {
    apl_link_t *free; /**< head of the list of free slots */
    uint32_t *top;    /**< the mark of use */
    void *array;      /**< slot 0 */
    uint32_t n;       /**< slots, the unused 0 included */
    uint32_t size;    /**< of a slot, bytes */
    uint32_t link;    /**< where a free slot has its link, bytes */
} apl_slots_t;

/* ---- the slot arrays ---- */

static inline apl_slots_t apl_slots_groups(const apl_pool_t *pool)
{
    return (apl_slots_t){
        .free = &pool->header->groups_free,
        .top = &pool->header->top_group,
        .array = pool->groups,
        .n = pool->n.groups,
        .size = sizeof(apl_group_t),
        .link = offsetof(apl_group_t, bucket),
    };
}

static inline apl_slots_t apl_slots_processes(const apl_pool_t *pool)
{
    return (apl_slots_t){
        .free = &pool->header->processes_free,
        .top = &pool->header->top_process,
        .array = pool->processes,
        .n = pool->n.processes,
        .size = sizeof(apl_process_t),
        .link = offsetof(apl_process_t, pool),
    };
}

static inline apl_slots_t apl_slots_sessions(const apl_pool_t *pool)
{
    return (apl_slots_t){
        .free = &pool->header->sessions_free,
        .top = &pool->header->top_session,
        .array = pool->sessions,
        .n = pool->n.sessions,
        .size = sizeof(apl_session_t),
        .link = offsetof(apl_session_t, link),
    };
}

static inline apl_slots_t apl_slots_children(const apl_pool_t *pool)
{
    return (apl_slots_t){
        .free = &pool->header->children_free,
        .top = &pool->header->top_child,
        .array = pool->children,
        .n = pool->n.children,
        .size = sizeof(apl_child_t),
        .link = offsetof(apl_child_t, link),
    };
}

/* ---- their slots ---- */

/** The state of slot i, which must be in the slot array. */
static inline uint32_t *apl_slot_state(apl_slots_t slots, uint32_t i)
{
    return (void *)((char *)slots.array + (size_t)i * slots.size);
}

static inline apl_link_t *apl_slot_link(apl_slots_t slots, void *slot)
{
    return (void *)((char *)slot + slots.link);
}

/**
 * Take the first free slot, or the first that was never used. It stays FREE:
 * the caller fills it and then stores its state.
 * @return NULL: the slot array is full; or there is damage, and pool->damaged
 *         says so
 */
static inline void *apl_slot_take(apl_pool_t *pool, apl_slots_t slots)
{
    uint32_t at = apl_list_first(pool, slots.free);
    uint32_t top = apl_once(*slots.top);
    uint32_t *state;

    if (at != 0) {
        state = apl_record_of(pool, at, slots.array, slots.n, slots.size,
                              slots.link);
        if (!state || *state != 0) {
            pool->damaged = 1;
            return NULL;
        }
        apl_list_remove(pool, apl_slot_link(slots, state));
        return state;
    }
    if (top >= slots.n - 1)
        return NULL;
    state = apl_slot_state(slots, top + 1);
    if (*state != 0)
        pool->damaged = 1; /* the mark has hidden it */
    *state = 0;
    *slots.top = top + 1;
    return state;
}

/** Has the slot array no free slot? */
static inline int apl_slot_none(apl_pool_t *pool, apl_slots_t slots)
{
    return apl_list_first(pool, slots.free) == 0 &&
           apl_once(*slots.top) >= slots.n - 1;
}

/** Put a free slot into the list. Low slots are taken first, so that the last
 * ones remain unused. */
static inline void apl_slot_put(apl_pool_t *pool, apl_slots_t slots, void *slot)
{
    size_t i = (size_t)((char *)slot - (char *)slots.array) / slots.size;

    if (i > *slots.top / 2)
        apl_list_append(pool, slots.free, apl_slot_link(slots, slot));
    else
        apl_list_prepend(pool, slots.free, apl_slot_link(slots, slot));
}

/** Lower the mark of use past at most `most` free slots at the end of the slot
 * array. Their generations stay. */
static inline void apl_slot_lower(apl_pool_t *pool, apl_slots_t slots,
                                  uint32_t most)
{
    uint32_t top = apl_top(slots.top, slots.n);

    for (; top > 0 && most > 0 && *apl_slot_state(slots, top) == 0;
         top--, most--) {
        apl_list_remove(pool, apl_slot_link(slots, apl_slot_state(slots, top)));
        APL_CRASH_POINT("slot_unlisted"); /* seen: it is free, and in no list */
        *slots.top = top - 1;
    }
}

#endif
