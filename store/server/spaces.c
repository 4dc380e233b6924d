/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/spaces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/heartbeat.h"
#include "store/atomic.h"
#include "store/clock.h"
#include "store/cluster/role.h"
#include "store/protocol/protocols.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/server/mailbox.h"
#include "store/server/stop_signal.h"
#include "store/server/store_listener.h"
#include "store/server/sweeper_thread.h"
#include "store/server/takeover.h"
#include "store/server/tcp_listener.h"

static store_served_t *first; /* atomic, because other threads read it */
static unsigned generation;   /* atomic */
/* Workers read the users of a space, and the main thread changes them. */
static pthread_mutex_t users = PTHREAD_MUTEX_INITIALIZER;
static const store_spaces_hooks_t *hooks;

void store_spaces_begin(const store_spaces_hooks_t *h)
{
    hooks = h;
}

store_served_t *store_spaces_list(void)
{
    return STORE_GET_ACQUIRE(first);
}

store_space_t *store_spaces_nth(unsigned n)
{
    const store_served_t *s = store_spaces_list();

    while (s && n-- > 0)
        s = STORE_GET_ACQUIRE(s->next);
    return s ? s->space : NULL;
}

unsigned store_spaces_generation(void)
{
    return STORE_GET_ACQUIRE(generation);
}

/* What is to be seen with it was written before. */
static void raise_generation(void)
{
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
}

void store_spaces_count(store_served_t *s, int change)
{
    store_space_figures_t *figures = s->space->figures;
    uint32_t n =
        __atomic_add_fetch(&s->connections, (uint32_t)change, __ATOMIC_ACQ_REL);

    /* Without connections, the main thread may free the space now. */
    STORE_SET(figures->connections, n);
}

store_served_t *store_spaces_find(const char *name)
{
    store_served_t *s;

    for (s = first; s; s = s->next)
        if (strcmp(s->options.name, name) == 0)
            return s;
    return NULL;
}

/* ---- listeners ---- */

/* An older listener of the space may be there, too: its path was removed. */
static int stays(void *ctx, const char *name, int fd)
{
    const store_served_t *s = store_spaces_find(name);

    (void)ctx;
    if (store_tcp_listener_stays(name, fd) || store_listener_stays_older(fd))
        return 1;
    return s && s->listener >= 0 && store_listener_is_same(s->listener, fd);
}

static void leave_listener(store_served_t *s)
{
    if (s->listener < 0)
        return;
    hooks->unwatch(s);
    close(s->listener);
    s->listener = -1;
}

static void close_listener(store_served_t *s)
{
    if (s->listener < 0)
        return;
    leave_listener(s);
    unlink(s->path);
}

/* @return 0, or -1: that was logged */
static int open_listener(store_served_t *s)
{
    if (s->listener >= 0)
        return 0;
    s->listener = store_listener_make(s->path);
    if (s->listener >= 0 && hooks->watch(s) == 0) {
        if (store_mailbox_put(s->options.name, s->listener) != 0)
            store_note(STORE_WARN,
                       "the socket of space %s cannot be kept while no store "
                       "runs: %s",
                       s->options.name, strerror(errno));
        return 0;
    }
    store_note(STORE_ERROR, "%s, the socket of space %s, cannot be made: %s",
               s->path, s->options.name, strerror(errno));
    if (s->listener >= 0)
        close(s->listener);
    s->listener = -1;
    return -1;
}

/* A listener of the last store. Clients may wait at it already. The mailbox
 * begins with the oldest one. The path leads to the newest one. */
static void take_listener(void *ctx, const char *name, int fd)
{
    store_served_t *s = store_spaces_find(name);

    (void)ctx;
    if (store_takeover_take(fd))
        return;
    if (*name == '@') {
        store_tcp_listener_take(name, fd);
        return;
    }
    if (s && !store_listener_is(fd, s->path)) {
        store_listener_take_older(name, fd);
        return;
    }
    if (s) {
        leave_listener(s);
        s->listener = fd;
        if (hooks->watch(s) == 0)
            return;
        s->listener = -1;
    }
    close(fd);
}

static int is_key(const char *key)
{
    const store_served_t *s;

    for (s = first; s; s = s->next)
        if (strcmp(s->options.key, key) == 0)
            return 1;
    return 0;
}

/* Sockets of spaces that were lost while no store ran. */
static void remove_others(void)
{
    DIR *d = opendir(hooks->directory);
    const struct dirent *e;
    struct stat st;

    while (d && (e = readdir(d)))
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISSOCK(st.st_mode) && !is_key(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

static void open_listeners(void)
{
    static int has_taken;
    store_served_t *s;
    int n = 0;

    if (!has_taken) {
        has_taken = 1;
        n = store_mailbox_peek(take_listener, NULL);
        remove_others();
    }
    for (s = first; s; s = s->next)
        if (!s->gone)
            open_listener(s);
    if (n != 0)
        store_mailbox_keep(stays, NULL);
}

/* ---- spaces ---- */

int store_spaces_admits(const store_served_t *s, uid_t uid)
{
    int admits;

    pthread_mutex_lock(&users);
    admits = store_config_admits(&s->options, uid);
    pthread_mutex_unlock(&users);
    return admits;
}

static void take_options(store_served_t *s, store_config_space_t *o)
{
    pthread_mutex_lock(&users);
    free(s->options.uids);
    s->options = *o;
    pthread_mutex_unlock(&users);
    o->uids = NULL;
    snprintf(s->path, sizeof s->path, "%s/%s", hooks->directory,
             s->options.key);
    STORE_SET(s->space->confirm, (int)o->confirm);
    STORE_SET(s->space->figures->max_connections, o->max_connections);
}

/* Is there a user that may not use it any more? */
static int loses_user(const store_served_t *s, const store_config_space_t *o)
{
    uint32_t i;

    for (i = 0; i < s->options.n_uids; i++)
        if (!store_config_admits(o, s->options.uids[i]))
            return 1;
    return 0;
}

static int is_same_socket(const store_served_t *s,
                          const store_config_space_t *o)
{
    return strcmp(s->options.key, o->key) == 0;
}

static void append(store_served_t *s)
{
    store_served_t **end = &first;

    while (*end)
        end = &(*end)->next;
    store_sweeper_thread_lock();
    STORE_SET_RELEASE(*end, s);
    store_sweeper_thread_unlock();
    raise_generation();
}

static void add(store_config_space_t *o)
{
    store_space_options_t options = {o->name, o->size, o->evict,
                                     store_stop_signal_progress};
    store_served_t *s = calloc(1, sizeof *s);

    store_stop_signal_progress();
    if (s)
        s->space = store_space_open(&options);
    if (!s || !s->space) {
        store_note(STORE_ERROR, "space %s cannot be opened: %s", o->name,
                   strerror(errno));
        free(s);
        return;
    }
    s->listener = -1;
    s->space->entry->gone_at = 0;
    take_options(s, o);
    append(s);
}

static void come_back(store_served_t *s)
{
    store_note(STORE_NOTICE, "space %s is back, with its items",
               s->options.name);
    STORE_SET(s->gone, 0);
    STORE_SET(s->space->figures->name[0], s->options.name[0]);
    raise_generation();
}

static void change(store_served_t *s, store_config_space_t *o)
{
    store_space_options_t options = {s->options.name, o->size, o->evict, NULL};

    if (!is_same_socket(s, o)) {
        close_listener(s);
        store_mailbox_keep(stays, NULL);
    }
    if (s->options.size != o->size || s->options.evict != o->evict)
        store_space_configure(s->space, &options);
    take_options(s, o);
    s->space->entry->gone_at = 0;
    if (s->gone)
        come_back(s);
}

static void lose(store_served_t *s)
{
    store_note(STORE_NOTICE, "space %s is gone: its items are kept for an hour",
               s->options.name);
    close_listener(s);
    store_listener_close_older(s->options.name);
    s->space->entry->gone_at = store_clock();
    STORE_SET(s->gone, 1);
    STORE_SET(s->space->figures->name[0], '\0');
}

static int is_in(const store_config_t *t, const char *name)
{
    unsigned i;

    for (i = 0; i < t->n_spaces; i++)
        if (strcmp(t->spaces[i].name, name) == 0)
            return 1;
    return 0;
}

int store_spaces_apply(store_config_t *t)
{
    store_served_t *s;
    int lost = 0, loses = 0, moved = store_tcp_listener_apply(t);
    unsigned i;

    for (s = first; s; s = s->next)
        if (!s->gone && !is_in(t, s->options.name)) {
            lose(s);
            lost = 1;
        }
    if (lost || moved)
        store_mailbox_keep(stays, NULL);
    for (i = 0; i < t->n_spaces; i++) {
        s = store_spaces_find(t->spaces[i].name);
        loses |= s && loses_user(s, &t->spaces[i]);
        if (s)
            change(s, &t->spaces[i]);
        else
            add(&t->spaces[i]);
    }
    open_listeners();
    store_tcp_listener_open();
    return lost || loses;
}

/* ---- end ---- */

void store_spaces_forget(store_served_t *s)
{
    store_served_t **link = &first;

    while (*link != s)
        link = &(*link)->next;
    store_sweeper_thread_lock();
    *link = s->next;
    store_sweeper_thread_unlock();
    store_stats_forget(s->space);
    store_space_close(s->space);
    free(s->options.uids);
    free(s);
}

static int none_stays(void *ctx, const char *name, int fd)
{
    (void)ctx;
    (void)name;
    (void)fd;
    return 0;
}

void store_spaces_stop(void)
{
    store_served_t *s;

    for (s = first; s; s = s->next) {
        close_listener(s);
        store_listener_close_older(s->options.name);
    }
    store_tcp_listener_stop();
    store_mailbox_keep(none_stays, NULL);
}

/* ---- each second ---- */

#define KEEP_GONE 3600 /* s */
/* ms from one line about the limit of a space to the next. */
#define AGAIN     INT64_C(3600000)

/* ---- spaces that are gone ---- */

/* The memory of a space goes back to the kernel, and its entry is free. */
static void forget(unsigned slot)
{
    store_entry_t *e = &store_region_directory()->entry[slot];

    store_region_punch(slot, 0, e->pages);
    store_note(STORE_NOTICE,
               "space %.*s was gone for an hour: its items are removed",
               STORE_NAME - 1, e->name);
    memset(e, 0, sizeof *e);
}

static int is_due(const store_entry_t *e, uint32_t now)
{
    return e->gone_at != 0 && now >= e->gone_at && now - e->gone_at > KEEP_GONE;
}

static int is_open(unsigned slot)
{
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        if (s->space->slot == slot)
            return 1;
    return 0;
}

/* Spaces that the configuration has lost while this store ran. Threads of a
 * cluster may use a space at any time, so it only loses its items then. */
static void empty_gone(uint32_t now)
{
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        if (s->gone && is_due(s->space->entry, now) &&
            STORE_GET(s->space->figures->items) > 0)
            store_space_empty(s->space, heartbeat);
}

static int is_used(const store_served_t *s)
{
    return STORE_GET_ACQUIRE(s->connections) != 0 ||
           STORE_GET_ACQUIRE(s->locked) != 0;
}

static void close_gone(uint32_t now)
{
    store_served_t *s, *next;

    for (s = store_spaces_list(); s; s = next) {
        unsigned slot = s->space->slot;

        next = s->next;
        if (!s->gone || !is_due(s->space->entry, now) || is_used(s))
            continue;
        store_spaces_forget(s);
        forget(slot);
    }
}

/* Spaces that the configuration has lost before, or while no store ran. */
static void forget_gone(uint32_t now)
{
    store_directory_t *d = store_region_directory();
    unsigned slot;

    if (store_role() == STORE_ALONE)
        close_gone(now);
    else
        empty_gone(now);
    for (slot = 0; slot < STORE_SPACES; slot++) {
        store_entry_t *e = &d->entry[slot];

        if (!e->name[0] || is_open(slot))
            continue;
        if (e->gone_at == 0)
            e->gone_at = now;
        else if (is_due(e, now))
            forget(slot);
    }
}

/* ---- the limit ---- */

/* Of all workers, since the store began. */
static uint64_t count_of(unsigned slot, unsigned what)
{
    const store_figures_t *f = store_region_figures();
    uint64_t n = 0;
    unsigned i;

    for (i = 0; i < STORE_THREADS; i++)
        n += STORE_GET(f->worker[i][slot].n[what]);
    return n;
}

static void log_full(const store_served_t *s, int refused)
{
    store_note(refused ? STORE_WARN : STORE_NOTICE,
               "space %s is full (AppStore): %s", s->options.name,
               refused ? "items are refused"
                       : "the items that were unused longest are evicted");
}

static void log_limit(store_served_t *s, int64_t now)
{
    uint64_t evictions = STORE_GET(s->space->figures->evictions),
             refused = count_of(s->space->slot, STORE_NO_MEMORY_COUNT);
    int refuses = refused != s->refused;

    if ((refuses || evictions != s->evictions) &&
        store_note_is_first(&s->limit_at, now, AGAIN))
        log_full(s, refuses);
    s->evictions = evictions;
    s->refused = refused;
}

/* ---- AppStoreConfirm ---- */

/* One line a minute, with the number since the last one, and one at the end. */
static void log_confirm(store_served_t *s, int64_t now, int is_end)
{
    unsigned slot = s->space->slot;
    uint64_t unconfirmed = count_of(slot, STORE_UNCONFIRMED),
             not_confirmed = count_of(slot, STORE_NOT_CONFIRMED);

    if ((unconfirmed == s->unconfirmed && not_confirmed == s->not_confirmed) ||
        (!store_note_is_due(&s->confirm_at, now) && !is_end))
        return;
    store_note(
        STORE_WARN,
        "space %s: no slave was there to confirm (AppStoreConfirm): %llu "
        "writes were acknowledged without, %llu were refused",
        s->options.name, (unsigned long long)(unconfirmed - s->unconfirmed),
        (unsigned long long)(not_confirmed - s->not_confirmed));
    s->unconfirmed = unconfirmed;
    s->not_confirmed = not_confirmed;
}

void store_spaces_tick(int64_t now)
{
    store_served_t *s;

    if (store_listener_close_older(NULL))
        store_mailbox_keep(stays, NULL);
    for (s = store_spaces_list(); s; s = s->next) {
        if (store_role() != STORE_SLAVE)
            store_space_tick(s->space);
        log_limit(s, now);
        log_confirm(s, now, 0);
    }
    forget_gone(store_clock());
}

int store_spaces_grow(void)
{
    const store_served_t *s = store_spaces_list();

    while (s && !store_space_grow(s->space))
        s = s->next;
    return s != NULL;
}

void store_spaces_end(void)
{
    store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        log_confirm(s, 0, 1);
}
