/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/keep.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/note.h"
#include "spawner/shared/clock_ms.h"
#include "spawner/shared/heartbeat.h"
#include "store/memory/large_value.h"
#include "store/memory/region.h"
#include "store/server/mailbox.h"
#include "store/server/served.h"
#include "store/server/snapshot.h"
#include "store/server/takeover.h"

/* ms: the watchdog waits CONTRACT_STORE_STOP for the end of the store. The rest
 * is for the disk. */
#define SAVE_LIMIT 12000
#define NAME_LEFT  "=large values" /* in the mailbox */

static store_space_t *find(const char *name)
{
    store_served_t *s;

    for (s = store_served_list(); s; s = s->next)
        if (strcmp(s->options.name, name) == 0)
            return s->space;
    return NULL;
}

/* A part is not the whole: this host is not ready to be the master of a cluster
 * then. @param what the file, in the log */
static void load(int fd, const char *what)
{
    int64_t began = clock_ms();
    store_snapshot_t got;
    int rv = store_snapshot_load(fd, find, heartbeat, &got);

    if (rv != 0)
        store_note(STORE_ERROR, "%s cannot be read: %s", what, strerror(errno));
    store_note(rv == 0 && got.complete ? STORE_NOTICE : STORE_WARN,
               "loaded %llu item%s in %lld ms from %s; %llu had expired, %llu "
               "had no room, damaged places: %llu%s",
               (unsigned long long)got.items, got.items == 1 ? "" : "s",
               (long long)(clock_ms() - began), what,
               (unsigned long long)got.expired, (unsigned long long)got.dropped,
               (unsigned long long)got.damaged,
               got.complete ? "" : "; the file is not complete");
    if (!got.complete)
        store_region_directory()->lacks = 1;
}

void store_keep_load(int fd)
{
    store_directory_t *d = store_region_directory();
    struct stat st;
    int has_file = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;

    if (has_file && !d->loaded)
        load(fd, "the file of the last stop");
    d->loaded = 1;
    if (has_file && ftruncate(fd, 0) != 0)
        store_note(STORE_ERROR,
                   "the file of the last stop cannot be emptied: %s",
                   strerror(errno));
}

/* A part of a copy gets no end, so it is no whole file at the next start.
 * @return 0; 1: it was too late; -1: errno */
static int save(int fd, unsigned bits, store_snapshot_t *done)
{
    int64_t until = clock_ms() + SAVE_LIMIT;
    const store_served_t *s;
    int rv = store_snapshot_begin(fd, done);

    for (s = store_served_list(); s && rv == 0; s = s->next)
        if (!s->gone)
            rv = store_snapshot_save(fd, s->space, bits, until, done);
    return rv == 0 && !store_region_directory()->lacks
               ? store_snapshot_end(fd, done)
               : rv;
}

/* @return 0, or -1: errno */
static int leave(int fd)
{
    store_snapshot_t done;

    if (save(fd, STORE_IN_FILE, &done) < 0)
        return -1;
    return done.items > 0 ? store_mailbox_put(NAME_LEFT, fd) : 0;
}

void store_keep_leave_large(void)
{
    int fd = store_large_file();

    if (fd < 0 || leave(fd) != 0)
        store_note(
            STORE_WARN,
            "values over AppStoreLarge, if there are any, are lost: they "
            "cannot be left to the next store: %s",
            strerror(errno));
    if (fd >= 0)
        close(fd);
}

void store_keep_load_large(void)
{
    int fd = store_takeover_left();

    if (fd < 0)
        return;
    load(fd, "the store of the old build (values over AppStoreLarge)");
    close(fd);
}

void store_keep_save(int fd)
{
    int64_t began = clock_ms();
    store_snapshot_t done;
    int rv;

    if (fd < 0)
        return;
    rv = save(fd, 0, &done);
    if (rv < 0)
        store_note(STORE_ERROR, "the items of the store cannot be saved: %s",
                   strerror(errno));
    store_note(done.complete ? STORE_NOTICE : STORE_WARN,
               "saved %llu item%s (%llu bytes) in %lld ms%s",
               (unsigned long long)done.items, done.items == 1 ? "" : "s",
               (unsigned long long)done.bytes, (long long)(clock_ms() - began),
               rv > 0          ? "; no time was left for the other items"
               : done.complete ? ""
                               : "; they are a part of a copy");
}
