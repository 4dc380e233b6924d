/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/format/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/format/list.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u /* Linux 6.3; vm.memfd_noexec may demand it */
#endif

/* Offsets of the slot arrays and of what follows, and the size of all. */
typedef struct {
    apr_size_t groups, processes, sessions, children, lines, scratch, numbers,
        size;
} layout_t;

static apr_size_t whole(apr_size_t bytes, apr_size_t of)
{
    return (bytes + of - 1) / of * of;
}

static uint32_t largest_array(const apl_capacity_t *n)
{
    uint32_t most = n->groups > n->processes ? n->groups : n->processes;

    return most > n->sessions ? most : n->sessions;
}

/* Each slot array has its slots and slot 0, which is never used. */
static layout_t layout_of(const apl_capacity_t *n)
{
    apr_size_t end;
    layout_t at;

    at.groups = whole(sizeof(apl_header_t), APL_CACHE_LINE);
    at.processes = at.groups + (n->groups + 1) * sizeof(apl_group_t);
    at.sessions = at.processes + (n->processes + 1) * sizeof(apl_process_t);
    at.children = at.sessions + (n->sessions + 1) * sizeof(apl_session_t);
    at.lines = at.children + (n->children + 1) * sizeof(apl_child_t);
    at.scratch = at.lines + APL_STDERR_MAX * sizeof(apl_stderr_t);
    end = at.scratch + 2ul * largest_array(n) * sizeof(uint64_t);
    at.numbers = whole(end, APL_NUMBERS_ALIGNMENT);
    /* Not rounded: another capacity has another size. */
    at.size =
        end + APL_NUMBERS_ALIGNMENT + (n->groups + 1) * sizeof(apl_numbers_t);
    return at;
}

apr_size_t apl_segment_size(const apl_capacity_t *capacity)
{
    return layout_of(capacity).size;
}

static void set_pointers(apl_pool_t *pool, void *memory,
                         const apl_capacity_t *n)
{
    layout_t at = layout_of(n);

    memset(pool, 0, sizeof *pool);
    pool->base = memory;
    pool->header = memory;
    pool->groups = (void *)(pool->base + at.groups);
    pool->processes = (void *)(pool->base + at.processes);
    pool->sessions = (void *)(pool->base + at.sessions);
    pool->children = (void *)(pool->base + at.children);
    pool->lines = (void *)(pool->base + at.lines);
    pool->scratch = (void *)(pool->base + at.scratch);
    pool->numbers = (void *)(pool->base + at.numbers);
    pool->n_scratch = largest_array(n);
    pool->size = (uint32_t)at.size;
    pool->n.groups = n->groups + 1;
    pool->n.processes = n->processes + 1;
    pool->n.sessions = n->sessions + 1;
    pool->n.children = n->children + 1;
    pool->file = pool->doorbell = -1;
    pool->patience = APL_PATIENCE;
}

void apl_segment_empty(apl_pool_t *pool)
{
    apl_header_t *h = pool->header;
    uint32_t i;

    h->count = h->active = h->spawning = h->waiting = h->leaving = 0;
    h->replacing = h->hung = h->credit = h->abandoned = 0;
    apl_list_init(pool, &h->inactive);
    apl_list_init(pool, &h->unserved);
    apl_list_init(pool, &h->growing);
    apl_list_init(pool, &h->above);
    apl_list_init(pool, &h->sessions_free);
    apl_list_init(pool, &h->groups_free);
    apl_list_init(pool, &h->processes_free);
    apl_list_init(pool, &h->children_free);
    apl_list_init(pool, &h->wanted);
    apl_list_init(pool, &h->leavers);
    for (i = 0; i < APL_BUCKETS; i++)
        apl_list_init(pool, &h->buckets[i]);
}

/* For people who read a core dump. The code never reads these fields. */
static void write_signature(apl_header_t *h, const apl_capacity_t *capacity)
{
    h->magic = APL_MAGIC;
    h->layout = APL_LAYOUT;
    h->size = apl_segment_size(capacity);
    h->n_groups = capacity->groups;
    h->n_processes = capacity->processes;
    h->n_sessions = capacity->sessions;
    h->n_children = capacity->children;
}

void apl_segment_format(apl_pool_t *pool, void *memory,
                        const apl_capacity_t *capacity)
{
    set_pointers(pool, memory, capacity);
    write_signature(pool->header, capacity);
    apl_segment_empty(pool);
}

static int make_file(apr_size_t size)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int why, fd = memfd_create("apppool", flags | MFD_NOEXEC_SEAL);

    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("apppool", flags);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)size) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0)
        return fd;
    why = errno;
    close(fd);
    errno = why;
    return -1;
}

static void *map(int file, apr_size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

apr_status_t apl_segment_create(apl_pool_t *pool,
                                const apl_capacity_t *capacity)
{
    apr_size_t size = apl_segment_size(capacity);
    void *memory;
    int file;

    if (size > UINT32_MAX || capacity->processes > APL_PROCESSES_MAX)
        return APR_EINVAL;
    file = make_file(size);
    if (file < 0)
        return errno;
    memory = map(file, size);
    if (memory == MAP_FAILED) {
        apr_status_t rv = errno;

        close(file);
        return rv;
    }
    apl_segment_format(pool, memory, capacity);
    pool->file = file;
    return APR_SUCCESS;
}

apr_status_t apl_segment_attach(apl_pool_t *pool, int file,
                                const apl_capacity_t *capacity)
{
    apr_size_t size = apl_segment_size(capacity);
    struct stat st;
    void *memory;

    if (fstat(file, &st) != 0)
        return errno;
    if (!S_ISREG(st.st_mode) || st.st_size != (off_t)size)
        return APL_EFOREIGN;
    memory = map(file, size);
    if (memory == MAP_FAILED)
        return errno;
    set_pointers(pool, memory, capacity);
    write_signature(pool->header, capacity);
    pool->file = file;
    return APR_SUCCESS;
}

void apl_segment_close(apl_pool_t *pool)
{
    if (pool->file >= 0) {
        munmap(pool->base, pool->size);
        close(pool->file);
    }
    memset(pool, 0, sizeof *pool);
    pool->file = pool->doorbell = -1;
}
