/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/large_value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "store/memory/files.h"

#define CANDIDATES 64
#define SLICE      64 /* files that one call of the sweeper looks at */

uint32_t store_large_over = UINT32_MAX;
const char *store_large_directory = "/var/tmp";
static int last_error;

int store_large_error(void)
{
    return __atomic_exchange_n(&last_error, 0, __ATOMIC_RELAXED);
}

/* ---- the file ---- */

int store_large_file(void)
{
    char path[4096];
    int fd = open(store_large_directory,
                  O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    if (snprintf(path, sizeof path, "%s/apppool-store-XXXXXX",
                 store_large_directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* The mapping keeps the file. @return NULL: errno */
static char *map_file(uint32_t length)
{
    int fd = store_large_file(), error = fd < 0 ? errno : 0;
    void *bytes = MAP_FAILED;

    if (!error)
        error = posix_fallocate(fd, 0, length);
    if (!error) {
        bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = bytes == MAP_FAILED ? errno : 0;
    }
    if (fd >= 0)
        close(fd);
    errno = error;
    return error ? NULL : bytes;
}

/* ---- room ---- */

/* Evict the value that was unused longest, of some; those of a space with few
 * files are all of them. @return 1: done */
static int evict_one(store_space_t *space)
{
    struct store_files *files = space->files;
    uint32_t now = store_clock(), looks;
    store_evict_why_t why =
        STORE_GET(space->evict) ? STORE_EVICT_FILE : STORE_EVICT_DEAD;
    store_item_t *oldest = NULL;
    int candidates = 0;

    for (looks = 1; looks < files->end && candidates < CANDIDATES; looks++) {
        store_ref_t ref = STORE_GET(files->file[files->hand].item);
        store_item_t *item = ref ? store_at(space, ref) : NULL;

        if (++files->hand >= files->end)
            files->hand = 1;
        if (!item || !store_evict_is_unused(item))
            continue;
        candidates++;
        if (store_evict_item(space, item, now, STORE_EVICT_DEAD))
            return 1;
        if (!oldest || store_evict_is_older(item, oldest))
            oldest = item;
    }
    return oldest && store_evict_item(space, oldest, now, why);
}

static void unmap(store_space_t *space, uint32_t number)
{
    store_file_t *file = &space->files->file[number];

    munmap(file->bytes, file->length);
    store_chunk_lock(space);
    store_files_forget(space, number);
    store_chunk_unlock(space);
}

/* One step towards room: a place, or a file that is unmapped, or a victim.
 * @return 1: another step may help */
static int step(store_space_t *space, uint32_t length, uint32_t *number)
{
    uint32_t given = STORE_NO_FILE;
    int evicted = 0;

    store_chunk_lock(space);
    *number = store_files_reserve(space, length);
    if (*number == STORE_NO_FILE) {
        given = store_files_take_given(space);
        evicted = given == STORE_NO_FILE && evict_one(space);
    }
    store_chunk_unlock(space);
    if (given != STORE_NO_FILE)
        unmap(space, given);
    return given != STORE_NO_FILE || evicted;
}

uint32_t store_large_take(store_space_t *space, uint32_t length)
{
    uint32_t number = STORE_NO_FILE;
    char *bytes;

    if (!store_files_fits(space, length))
        return STORE_NO_FILE;
    while (step(space, length, &number))
        continue;
    if (number == STORE_NO_FILE)
        return STORE_NO_FILE;
    bytes = map_file(length);
    if (bytes) {
        space->files->file[number].bytes = bytes;
        return number;
    }
    STORE_SET(last_error, errno);
    store_chunk_lock(space);
    store_files_cancel(space, number);
    store_chunk_unlock(space);
    return STORE_NO_FILE;
}

/* ---- the sweeper ---- */

/* Is it a living value that is not used, and has it page cache? */
static int becomes_cold(const store_space_t *space, store_file_t *file,
                        uint32_t now)
{
    store_ref_t ref = STORE_GET(file->item);
    uint32_t used;
    int was_cold = file->is_cold;

    if (!ref || !store_evict_is_unused(store_at(space, ref)))
        return 0;
    used = STORE_GET(store_at(space, ref)->used);
    file->is_cold = used + STORE_LARGE_COLD <= now;
    return file->is_cold && !was_cold;
}

/* @return NULL: its page cache is needed, or it has none */
static char *cold_bytes(store_space_t *space, uint32_t number, uint32_t *length)
{
    store_file_t *file = &space->files->file[number];
    char *bytes = NULL;

    store_chunk_lock(space);
    if (becomes_cold(space, file, store_clock())) {
        bytes = file->bytes;
        *length = file->length;
    }
    store_chunk_unlock(space);
    return bytes;
}

static int unmap_given(store_space_t *space)
{
    uint32_t given;

    store_chunk_lock(space);
    given = store_files_take_given(space);
    store_chunk_unlock(space);
    if (given == STORE_NO_FILE)
        return 0;
    unmap(space, given);
    return 1;
}

int store_large_sweep(store_space_t *space, uint32_t *at)
{
    uint32_t end, n, length = 0;

    store_chunk_lock(space);
    end = space->files->end;
    store_chunk_unlock(space);
    for (n = 0; n < SLICE && unmap_given(space); n++)
        continue;
    for (*at += *at == 0; n < SLICE && *at < end; n++, ++*at) {
        char *bytes = cold_bytes(space, *at, &length);

        /* The value may be gone meanwhile. This changes no byte of what may be
         * mapped there now. */
        if (bytes)
            madvise(bytes, length, MADV_PAGEOUT);
    }
    if (*at < end)
        return 1;
    *at = 0;
    return 0;
}
