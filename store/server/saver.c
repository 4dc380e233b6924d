/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/saver.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "store/atomic.h"
#include "store/cluster/follower_state.h"
#include "store/cluster/history.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/server/spaces.h"
#include "store/server/sweeper_thread.h"
#include "store/thread.h"

#define SECOND INT64_C(1000000000) /* ns */
/* A slice is followed by a pause of that many times its length: a quarter of a
 * CPU at most. */
#define PAUSES 3
/* A file tells that each space has given so many cas more than it has. After a
 * power cut none is given twice then, whatever was given after the save: there
 * are days of a million each second. */
#define AHEAD  (UINT64_C(1) << 40)

static const store_save_files_t *files;
static pthread_t thread;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static int stopping; /* atomic; changes under the guard */
static int is_running;
static int64_t failed_at; /* ms: a failure was logged; 0: none. The saver's */
static unsigned every;    /* s; the guard */

static int is_stopping(void)
{
    return STORE_GET(stopping);
}

static int go_on(void)
{
    return !is_stopping();
}

/* The guard is held. @return 1: the time is over; 0: it was woken */
static int wait_until(int64_t at)
{
    struct timespec until = {at / SECOND, (long)(at % SECOND)};

    return pthread_cond_timedwait(&changed, &guard, &until) == ETIMEDOUT;
}

/* @return 1: it has to stop */
static int pause_for(int64_t ns)
{
    int64_t at = store_thread_now() + ns;

    pthread_mutex_lock(&guard);
    while (!is_stopping() && !wait_until(at))
        continue;
    pthread_mutex_unlock(&guard);
    return is_stopping();
}

/* Until the next save is due. The time may change meanwhile.
 * @return 1: it has to stop */
static int await_turn(void)
{
    int64_t began = store_thread_now();

    pthread_mutex_lock(&guard);
    while (!is_stopping()) {
        int64_t at = every > 0 ? began + every * SECOND : INT64_MAX;

        if (at == INT64_MAX)
            pthread_cond_wait(&changed, &guard);
        else if (store_thread_now() >= at || wait_until(at))
            break;
    }
    pthread_mutex_unlock(&guard);
    return is_stopping();
}

/* ---- a save ---- */

/* The spaces are locked. @return NULL: none is served there now */
static store_space_t *space_at(unsigned slot)
{
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        if (s->space->slot == slot)
            return STORE_GET(s->gone) ? NULL : s->space;
    return NULL;
}

static void put_headers(store_save_t *to)
{
    const store_served_t *s;

    store_sweeper_thread_lock();
    for (s = store_spaces_list(); s; s = s->next)
        if (!STORE_GET(s->gone))
            store_snapshot_space(to, s->space);
    store_sweeper_thread_unlock();
}

/* Not each kind of file knows sync_file_range(). */
static int is_of_disk(int error)
{
    return error == EIO || error == ENOSPC || error == EDQUOT;
}

/* What the kernel has taken goes to the disk, and leaves its cache. The kernel
 * tells each error of the disk once: fdatasync() does not tell it again. */
static int write_through(store_save_t *to)
{
    off_t from = (off_t)to->done.bytes, n = (off_t)to->n;

    if (store_snapshot_write(to) != 0)
        return -1;
    if (sync_file_range(to->fd, from, n,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                            SYNC_FILE_RANGE_WAIT_AFTER) != 0 &&
        is_of_disk(errno)) {
        to->error = errno;
        return -1;
    }
    posix_fadvise(to->fd, from, n, POSIX_FADV_DONTNEED);
    return 0;
}

/* The space may go while the file is written, and another one come in its
 * place. So each slice says whose it is.
 * @return 1: there may be more; 0: no more */
static int slice(store_save_t *to, unsigned slot, uint32_t *cursor)
{
    int64_t began = store_thread_now();
    store_space_t *space;
    int more = 0;

    store_sweeper_thread_lock();
    space = space_at(slot);
    if (space) {
        store_snapshot_space(to, space);
        more = store_snapshot_fill(to, space, cursor);
    }
    store_sweeper_thread_unlock();
    if (space)
        pause_for((store_thread_now() - began) * PAUSES);
    return write_through(to) == 0 && more;
}

static int flush_out(store_save_t *to)
{
    if (store_snapshot_write(to) != 0)
        return -1;
    if (fdatasync(to->fd) == 0)
        return 0;
    to->error = errno;
    return -1;
}

/* A disk may write in any order, and the end says that the rest is there. If
 * the end has perhaps not got there, it goes: else the other file, which is
 * whole, would be written next. */
static int end(store_save_t *to)
{
    if (flush_out(to) != 0 || store_snapshot_end(to) != 0)
        return -1;
    if (flush_out(to) == 0)
        return 0;
    if (ftruncate(to->fd, (off_t)(to->done.bytes - sizeof(store_record_t))) !=
        0) {
        /* The log has the first error. */
    }
    return -1;
}

static int lacks_items(void)
{
    return STORE_GET(store_region_directory()->lacks) != STORE_LACKS_NOTHING;
}

/* A part of a copy is not worth a file: it would never be a whole one. */
static int save(store_save_t *to, int fd, uint32_t number)
{
    const unsigned parts = store_follower_state_parts();
    store_history_t history;
    unsigned slot;

    if (lacks_items())
        return -1;
    store_history_own(&history);
    if (store_snapshot_begin(to, fd, number, go_on, &history) != 0)
        return -1;
    to->ahead = AHEAD;
    put_headers(to);
    for (slot = 0; slot < STORE_SPACES && !to->error && go_on(); slot++) {
        uint32_t cursor = 0;

        while (slice(to, slot, &cursor))
            continue;
    }
    if (to->error || is_stopping() || lacks_items() ||
        store_follower_state_parts() != parts)
        return -1;
    return end(to);
}

static void save_one(void)
{
    int64_t began = store_thread_now();
    store_save_t to = {0};
    uint32_t number;
    int rv, fd = store_save_files_next(files, 1, &number);

    if (fd < 0)
        return;
    rv = save(&to, fd, number);
    store_snapshot_close(&to);
    if (rv == 0)
        store_note(STORE_INFO, "saved %llu items (%llu bytes) in %lld ms",
                   (unsigned long long)to.done.items,
                   (unsigned long long)to.done.bytes,
                   (long long)((store_thread_now() - began) / 1000000));
    else if (to.error && store_note_is_due(&failed_at, store_thread_now() /
                                                           (SECOND / 1000)))
        store_note(STORE_ERROR,
                   "the items of the store cannot be saved while it serves: %s",
                   strerror(to.error));
}

static void *run(void *ctx)
{
    (void)ctx;
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
            IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7));
    while (!await_turn())
        save_one();
    return NULL;
}

/* ---- the thread ---- */

void store_saver_configure(unsigned every_s)
{
    pthread_mutex_lock(&guard);
    if (every != every_s && is_running)
        pthread_cond_signal(&changed);
    every = every_s;
    pthread_mutex_unlock(&guard);
}

int store_saver_start(const store_save_files_t *f)
{
    files = f;
    stopping = 0;
    failed_at = 0;
    store_thread_condition(&changed);
    is_running = store_thread_start(&thread, "saver", run, NULL) == 0;
    return is_running ? 0 : -1;
}

void store_saver_stop(void)
{
    if (!is_running)
        return;
    pthread_mutex_lock(&guard);
    STORE_SET(stopping, 1);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&guard);
    pthread_join(thread, NULL);
    is_running = 0;
}
