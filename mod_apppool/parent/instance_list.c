/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/instance_list.h"

#include <httpd.h>

#include <apr_strings.h>
#include <errno.h>
#include <http_config.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "mod_apppool/parent/runtime_dir.h"

/* All builds read these. */
_Static_assert(sizeof(void *) != 8 ||
                   (offsetof(apppool_retained_t, build) == 16 &&
                    offsetof(apppool_retained_t, watchdog) == 496 &&
                    offsetof(apppool_retained_t, fds) == 552 &&
                    sizeof(apppool_retained_t) >= 616),
               "the contract between builds only grows at its end");

/* A build before may not have known this field. */
static int has_figures(const apppool_retained_t *r)
{
    return r->size >= offsetof(apppool_retained_t, figures_length) +
                          sizeof r->figures_length &&
           r->figures;
}

static void close_fd(apr_int32_t *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

apppool_retained_t *apppool_instance_list_newest(void)
{
    return ap_retained_data_get(APPPOOL_RETAINED);
}

apppool_retained_t *apppool_instance_list_add(apr_size_t size,
                                              const char *build)
{
    apppool_retained_t *older = apppool_instance_list_newest();
    apppool_retained_t *r = ap_retained_data_create(APPPOOL_RETAINED, size);
    int i;

    r->size = sizeof *r;
    r->older = older;
    apr_cpystrn(r->build, build, sizeof r->build);
    r->life = r->program = -1;
    for (i = 0; i < APPPOOL_RETAINED_FDS; i++)
        r->fds[i] = -1;
    return r;
}

int apppool_instance_list_is_open(const apppool_retained_t *r)
{
    return r->runtime[0] != 0;
}

int apppool_instance_list_winds_down(const apppool_retained_t *r)
{
    return apppool_instance_list_is_open(r) && r->life < 0;
}

static int base_is_lost(const apppool_retained_t *r)
{
    return apppool_runtime_dir_is_lost(
        r->base, r->fds[CONTRACT_LOCK_FD - CONTRACT_LIFE_FD]);
}

int apppool_instance_list_is_lost(const apppool_retained_t *r)
{
    struct stat st;

    return apppool_instance_list_is_open(r) &&
           (base_is_lost(r) ||
            (lstat(r->runtime, &st) != 0 && errno == ENOENT));
}

/* ---- instances that are left behind ---- */

static char own[sizeof((apppool_retained_t *)0)->build];

/* This build continues with the newest instance, or with none. */
static int is_left_behind(const apppool_retained_t *r)
{
    return apppool_instance_list_is_open(r) && r->life >= 0 &&
           (r != apppool_instance_list_newest() || strcmp(r->build, own) != 0);
}

void apppool_instance_list_give_up(void)
{
    apppool_retained_t *r;

    for (r = apppool_instance_list_newest(); r; r = r->older)
        if (is_left_behind(r))
            close_fd(&r->life);
}

void apppool_instance_list_withhold(const char *build)
{
    static int is_registered;
    apppool_retained_t *r;

    apr_cpystrn(own, build, sizeof own);
    if (!is_registered)
        is_registered =
            pthread_atfork(NULL, NULL, apppool_instance_list_give_up) == 0;
    for (r = apppool_instance_list_newest(); r; r = r->older) {
        if (!is_left_behind(r))
            continue;
        if (r->memory)
            madvise(r->memory, r->length, MADV_DONTFORK);
        if (has_figures(r))
            madvise(r->figures, r->figures_length, MADV_DONTFORK);
    }
}

apppool_retained_t *apppool_instance_list_in(const char *base,
                                             const apppool_retained_t *but)
{
    apppool_retained_t *r;

    for (r = apppool_instance_list_newest(); r; r = r->older)
        if (r != but && apppool_instance_list_is_open(r) &&
            !strcmp(r->base, base))
            return r;
    return NULL;
}

int apppool_instance_list_uses(const char *runtime)
{
    const apppool_retained_t *r;

    for (r = apppool_instance_list_newest(); r; r = r->older)
        if (strcmp(r->runtime, runtime) == 0)
            return 1;
    return 0;
}

/* Its memory belongs to httpd and stays. It is only a kilobyte. */
static void unlink_from_list(apppool_retained_t *r)
{
    apppool_retained_t *other;

    for (other = apppool_instance_list_newest(); other; other = other->older)
        if (other->older == r)
            other->older = r->older;
}

void apppool_instance_list_forget(apppool_retained_t *r)
{
    int i;

    if (apppool_instance_list_is_open(r) && !base_is_lost(r)) {
        apppool_runtime_dir_clear(r->runtime, strcmp(r->runtime, r->base) != 0);
        if (!apppool_instance_list_in(r->base, r))
            apppool_runtime_dir_remove(r->base);
    }
    for (i = 0; i < APPPOOL_RETAINED_FDS; i++)
        close_fd(&r->fds[i]);
    close_fd(&r->life);
    close_fd(&r->program);
    if (r->memory)
        munmap(r->memory, r->length);
    r->memory = NULL;
    if (has_figures(r)) {
        munmap(r->figures, r->figures_length);
        r->figures = NULL;
    }
    r->runtime[0] = 0;
    unlink_from_list(r);
}

void apppool_instance_list_inherit(int doorbell)
{
    apppool_retained_t *r;
    int i;

    /* The lock is free when parent and helpers are gone. The write end of the
     * life pipe stays open as long as a child lives. */
    for (r = apppool_instance_list_newest(); r; r = r->older) {
        close_fd(&r->program);
        for (i = 0; i < APPPOOL_RETAINED_FDS; i++)
            if (r->fds[i] != doorbell)
                close_fd(&r->fds[i]);
    }
}
