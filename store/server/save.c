/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/save.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/contract.h"
#include "base/heartbeat.h"
#include "store/cluster/epoch.h"
#include "store/cluster/history.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/server/snapshot.h"
#include "store/server/snapshot_load.h"
#include "store/server/spaces.h"
#include "store/server/stop_signal.h"
#include "store/server/takeover.h"

/* ---- the files ---- */

/* Numbers may begin again after the last one. A build without them writes 0,
 * and knows only one of the files. */
static int is_newer(const store_snapshot_head_t *a,
                    const store_snapshot_head_t *b)
{
    if (a->whole != b->whole)
        return a->whole;
    if (a->number == 0 || b->number == 0)
        return a->changed > b->changed;
    return (int32_t)(a->number - b->number) > 0;
}

/* Higher than that of each file. */
static uint32_t next_number(const store_save_files_t *f)
{
    store_snapshot_head_t head;
    uint32_t last = 0;
    int i;

    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && store_snapshot_look(f->fd[i], &head) &&
            (last == 0 || (int32_t)(head.number - last) > 0))
            last = head.number;
    return last == UINT32_MAX ? 1 : last + 1;
}

/* @return which one; -1: none has anything */
static int find_newest(const store_save_files_t *f, store_snapshot_head_t *best)
{
    store_snapshot_head_t head;
    int i, found = -1;

    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && store_snapshot_look(f->fd[i], &head) &&
            (found < 0 || is_newer(&head, best))) {
            *best = head;
            found = i;
        }
    return found;
}

int store_save_files_newest(const store_save_files_t *f,
                            store_snapshot_head_t *head)
{
    int i = find_newest(f, head);

    return i < 0 ? -1 : f->fd[i];
}

int store_save_files_next(const store_save_files_t *f, int spare,
                          uint32_t *number)
{
    store_snapshot_head_t head = {0};
    int i, newest = find_newest(f, &head);

    *number = next_number(f);
    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && (newest < 0 || !head.whole || i != newest))
            return f->fd[i];
    return newest >= 0 && !spare ? f->fd[newest] : -1;
}

int store_save_files_empty(const store_save_files_t *f)
{
    int i, error = 0;

    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && ftruncate(f->fd[i], 0) != 0)
            error = errno;
    return error;
}

/* ---- at a start and at a stop ---- */

/* ms. The watchdog waits CONTRACT_STORE_REST longer than a save may last. Half
 * of that may have gone by when the save begins. The other half is for the
 * disk. */
#define BEFORE     (CONTRACT_STORE_REST * 1000 / 2)
#define SAVE_LEAST 1000 /* also if the start took all of that */
#define HURRIED    3000 /* to load what was left, when httpd stops */
#define LOOK       50   /* from one look for a reason to hurry to the next */

static int64_t save_ms = CONTRACT_STORE_SAVE_DEFAULT * 1000;
static unsigned every; /* s; 0: only at a stop */

/* The time of one load or save. */
static struct {
    int64_t until, look_at; /* ms */
    int (*is_hurried)(void);
    int64_t hurried; /* ms that are left from then on */
} limit;

void store_save_configure(unsigned limit_s, unsigned every_s)
{
    save_ms = (int64_t)limit_s * 1000;
    every = every_s;
}

static void begin(int64_t most, int (*is_hurried)(void), int64_t hurried)
{
    limit.until = most < INT64_MAX ? clock_ms() + most : INT64_MAX;
    limit.look_at = 0;
    limit.is_hurried = is_hurried;
    limit.hurried = hurried;
}

/* Is there time for more? */
static int go_on(void)
{
    int64_t now;

    heartbeat();
    now = clock_ms();
    if (limit.is_hurried && now >= limit.look_at) {
        limit.look_at = now + LOOK;
        if (limit.is_hurried()) {
            limit.is_hurried = NULL;
            if (now + limit.hurried < limit.until)
                limit.until = now + limit.hurried;
        }
    }
    return now < limit.until;
}

static store_space_t *find(const char *name)
{
    store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        if (strcmp(s->options.name, name) == 0)
            return s->space;
    return NULL;
}

/* A flush that was due while httpd was stopped. */
static void flush_due(void)
{
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        store_space_tick(s->space);
}

/* What is not complete is not the whole: this host is not ready to be the
 * master of a cluster then.
 * @param what    the file, in the log
 * @param hurried ms that are left when SIGTERM comes
 * @return 0: SIGTERM has come, and something was not loaded */
static int load(int fd, const char *what, int64_t hurried)
{
    int64_t began = clock_ms();
    store_snapshot_t got;
    int rv;

    begin(INT64_MAX, store_stop_signal_came, hurried);
    rv = store_snapshot_load(fd, find, go_on, &got);
    flush_due();

    if (rv != 0)
        store_note(STORE_ERROR, "%s cannot be read: %s", what, strerror(errno));
    store_note(
        rv == 0 && got.complete ? STORE_NOTICE : STORE_WARN,
        "loaded %llu item%s in %lld ms from %s; %llu had expired, %llu "
        "had no room, damaged places: %llu%s%s",
        (unsigned long long)got.items, got.items == 1 ? "" : "s",
        (long long)(clock_ms() - began), what, (unsigned long long)got.expired,
        (unsigned long long)got.dropped, (unsigned long long)got.damaged,
        got.complete || got.late ? "" : "; the file is not complete",
        got.late ? "; the store has to stop, so the rest is not loaded" : "");
    if (!got.complete && !got.late) {
        store_region_directory()->lacks = 1;
        got.history.flags |= STORE_HISTORY_INCOMPLETE;
    }
    if (got.history.n > 0 && store_region_directory()->history.n == 0)
        store_epoch_adopt(&store_region_directory()->history, &got.history);
    return !got.late;
}

/* @param words gets the name of the file in the log */
static const char *describe(const store_snapshot_head_t *head, char *words,
                            size_t size)
{
    if (head->live)
        snprintf(words, size, "the file that was saved %lld s before",
                 (long long)(time(NULL) - head->at));
    else
        snprintf(words, size, "the file of the last stop");
    return words;
}

/* Without a periodic save, what the file has is soon too old to be of use. */
static void empty(const store_save_files_t *files)
{
    int error = store_save_files_empty(files);

    if (error)
        store_note(STORE_ERROR,
                   "the file of the last stop cannot be emptied: %s",
                   strerror(error));
}

int store_save_load(const store_save_files_t *files)
{
    store_directory_t *d = store_region_directory();
    store_snapshot_head_t head;
    int fd = store_save_files_newest(files, &head);
    char what[64];

    if (fd >= 0 && !d->loaded &&
        !load(fd, describe(&head, what, sizeof what), 0))
        return 0;
    d->loaded = 1;
    if (every == 0)
        empty(files);
    return 1;
}

/* A part of a copy gets no end, so it is no whole file at the next start.
 * @return 0; 1: there was no time for all items; -1: errno */
static int save(store_save_t *to, int fd, uint32_t number)
{
    const store_served_t *s;
    store_history_t history;
    int rv;

    store_history_own(&history);
    rv = store_snapshot_begin(to, fd, number, go_on, &history);
    for (s = store_spaces_list(); s && rv == 0; s = s->next)
        if (!s->gone)
            store_snapshot_space(to, s->space);
    for (s = store_spaces_list(); s && rv == 0; s = s->next)
        if (!s->gone)
            rv = store_snapshot_save(to, s->space);
    return rv == 0 && !store_region_directory()->lacks ? store_snapshot_end(to)
                                                       : rv;
}

void store_save_load_large(void)
{
    int fd = store_takeover_left();

    if (fd < 0)
        return;
    if (!load(fd, "the last store (large values)", HURRIED))
        store_region_directory()->lacks = 1;
    close(fd);
}

/* ms. SIGTERM may have come long before: the start was not complete, or the
 * memory had another owner. */
static int64_t save_limit(void)
{
    int64_t told_at = store_stop_signal_at(),
            left = told_at + save_ms + BEFORE - clock_ms();

    if (told_at == 0 || left > save_ms)
        return save_ms;
    return left > SAVE_LEAST ? left : SAVE_LEAST;
}

/* How many items a save has left out, in words. What was written last may be in
 * the file, too. */
static const char *describe_rest(const store_snapshot_t *done, int has_failed,
                                 char *words, size_t size)
{
    uint64_t items = 0;
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        items += s->gone ? 0 : STORE_GET(s->space->figures->items);
    snprintf(
        words, size,
        has_failed
            ? "; the file is not complete: up to %llu other items are missing"
            : "; no time was left for %llu other items: AppStoreSaveTime is "
              "too short for them",
        (unsigned long long)(items > done->items ? items - done->items : 0));
    return words;
}

void store_save_save(const store_save_files_t *files)
{
    char rest[128];
    int64_t began = clock_ms();
    store_save_t to;
    store_snapshot_t done;
    uint32_t number;
    int rv, fd = store_save_files_next(files, 0, &number);

    if (fd < 0)
        return;
    begin(save_limit(), NULL, 0);
    rv = save(&to, fd, number);
    if (rv == 0 && fdatasync(fd) != 0) {
        to.error = errno;
        rv = -1;
    }
    store_snapshot_close(&to);
    done = to.done;
    done.complete &= rv == 0;
    if (rv < 0)
        store_note(STORE_ERROR, "the items of the store cannot be saved: %s",
                   strerror(to.error));
    store_note(done.complete ? STORE_NOTICE : STORE_WARN,
               "saved %llu item%s (%llu bytes) in %lld ms%s",
               (unsigned long long)done.items, done.items == 1 ? "" : "s",
               (unsigned long long)done.bytes, (long long)(clock_ms() - began),
               rv != 0         ? describe_rest(&done, rv < 0, rest, sizeof rest)
               : done.complete ? ""
                               : "; they are a part of a copy");
}
