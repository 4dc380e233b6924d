/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/keep.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/note.h"
#include "spawner/shared/clock_ms.h"
#include "spawner/shared/heartbeat.h"
#include "store/memory/region.h"
#include "store/server/served.h"
#include "store/server/snapshot.h"

/* ms: the watchdog waits CONTRACT_STORE_STOP for the end of the store. The rest
 * is for the disk. */
#define SAVE_LIMIT 12000

static store_space_t *find(const char *name)
{
    store_served_t *s;

    for (s = store_served_list(); s; s = s->next)
        if (strcmp(s->options.name, name) == 0)
            return s->space;
    return NULL;
}

static void load(int fd)
{
    int64_t began = clock_ms();
    store_snapshot_t got;
    int rv = store_snapshot_load(fd, find, heartbeat, &got);

    if (rv != 0)
        store_note(STORE_ERROR, "the file of the last stop cannot be read: %s",
                   strerror(errno));
    store_note(
        rv == 0 && got.complete ? STORE_NOTICE : STORE_WARN,
        "loaded %llu item%s in %lld ms from the file of the last stop; %llu "
        "had expired, %llu had no room, damaged places: %llu%s",
        (unsigned long long)got.items, got.items == 1 ? "" : "s",
        (long long)(clock_ms() - began), (unsigned long long)got.expired,
        (unsigned long long)got.dropped, (unsigned long long)got.damaged,
        got.complete ? "" : "; the file is not complete");
}

void store_keep_load(int fd)
{
    store_directory_t *d = store_region_directory();
    struct stat st;
    int has_file = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;

    if (has_file && !d->loaded)
        load(fd);
    d->loaded = 1;
    if (has_file && ftruncate(fd, 0) != 0)
        store_note(STORE_ERROR,
                   "the file of the last stop cannot be emptied: %s",
                   strerror(errno));
}

void store_keep_save(int fd)
{
    int64_t began = clock_ms();
    store_snapshot_t done;
    const store_served_t *s;
    int rv;

    if (fd < 0)
        return;
    rv = store_snapshot_begin(fd, &done);
    for (s = store_served_list(); s && rv == 0; s = s->next)
        if (!s->gone)
            rv = store_snapshot_save(fd, s->space, began + SAVE_LIMIT, &done);
    if (rv == 0)
        rv = store_snapshot_end(fd, &done);
    if (rv < 0)
        store_note(STORE_ERROR, "the items of the store cannot be saved: %s",
                   strerror(errno));
    store_note(done.complete ? STORE_NOTICE : STORE_WARN,
               "saved %llu item%s (%llu bytes) in %lld ms%s",
               (unsigned long long)done.items, done.items == 1 ? "" : "s",
               (unsigned long long)done.bytes, (long long)(clock_ms() - began),
               rv > 0 ? "; no time was left for the other items" : "");
}
