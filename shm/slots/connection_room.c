/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/connection_room.h"

#include "shm/lock/wake.h"

/* us. In this time, a server with room for few connections loses no request
 * time. Any other server loses what a new connection costs. */
#define WINDOW 10000000

static apl_process_t *find(const apl_pool_t *pool, uint64_t id)
{
    return apl_process_at(pool, (uint32_t)(id & 0xffff));
}

/* The time may be that of an earlier process in this slot. */
static int is_within(const apl_process_t *p, int64_t now)
{
    int64_t asked = __atomic_load_n(&p->connection_asked, __ATOMIC_SEQ_CST);

    return asked != 0 && now - asked < WINDOW;
}

APL_UNLOCKED int apl_connection_room_is_there(const apl_pool_t *pool,
                                              uint64_t id, int64_t now)
{
    const apl_process_t *p = find(pool, id);

    return p && __atomic_load_n(&p->id, __ATOMIC_RELAXED) == id &&
           __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == APL_PROCESS_LIVE &&
           !is_within(p, now);
}

void apl_connection_room_ask(const apl_pool_t *pool, uint64_t id, int64_t now)
{
    apl_process_t *p = find(pool, id);

    if (!p || is_within(p, now))
        return;
    __atomic_store_n(&p->connection_asked, now, __ATOMIC_SEQ_CST);
    apl_wake_change(&pool->header->connection_room);
    apl_wake_up(&pool->header->connection_room);
}

APL_UNLOCKED uint64_t apl_connection_room_ended(const apl_pool_t *pool,
                                                uint64_t id)
{
    const apl_process_t *p = find(pool, id);

    return p ? __atomic_load_n(&p->processed, __ATOMIC_RELAXED) : 0;
}

/* The process may have ended, and its slot may have a new one. */
APL_UNLOCKED void apl_connection_room_count(const apl_pool_t *pool, uint64_t id,
                                            int change)
{
    apl_process_t *p = find(pool, id);

    if (p && __atomic_load_n(&p->id, __ATOMIC_RELAXED) == id)
        __atomic_fetch_add(&p->connections_idle, (uint32_t)change,
                           __ATOMIC_RELAXED);
}

int apl_connection_room_is_used(const apl_pool_t *pool, uint64_t id)
{
    const apl_process_t *p = find(pool, id);

    return p && __atomic_load_n(&p->connections_idle, __ATOMIC_RELAXED) != 0;
}

uint32_t apl_connection_room_read(const apl_pool_t *pool)
{
    return apl_wake_read(&pool->header->connection_room);
}

void apl_connection_room_sleep(const apl_pool_t *pool, uint32_t seen,
                               int64_t us)
{
    apl_wake_sleep(&pool->header->connection_room, seen, us);
}
