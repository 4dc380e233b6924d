/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/store_takeover.h"

#include <httpd.h>

#include <errno.h>
#include <fcntl.h>
#include <http_log.h>
#include <http_main.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod_apppool/parent/instance_list.h"
#include "shm/lock/wake.h"
#include "base/contract.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, level, rv, ap_server_conf, "apppool: " __VA_ARGS__)

#define PATH 160 /* bytes of a path in the runtime directory */

/* ---- the store of another instance ---- */

/* A build before may not have known these fields. */
static int knows_takeover(const apppool_retained_t *r)
{
    return r->size >=
           offsetof(apppool_retained_t, store_bell) + sizeof r->store_bell;
}

/* A build that does not know the fields has a table where it has a store. */
static int has_store(const apppool_retained_t *r)
{
    char path[PATH];
    struct stat st;

    if (!apppool_instance_list_is_open(r))
        return 0;
    if (knows_takeover(r))
        return r->store_format != 0;
    snprintf(path, sizeof path, "%s/%s", r->runtime, CONTRACT_STORE_TABLE);
    return lstat(path, &st) == 0;
}

/* ---- its memory and its mailbox ---- */

static int copy(apr_int32_t fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void replace(apr_int32_t *fd, int by)
{
    if (*fd >= 0)
        close(*fd);
    *fd = by;
}

/* All of them or none. @return 0, or errno */
static int share(const apppool_retained_t *r, apppool_store_parts_t *parts)
{
    int items = copy(r->store_items), mailbox = copy(r->store_mailbox),
        end = copy(r->store_mailbox_end), error = errno;

    if (items >= 0 && mailbox >= 0 && end >= 0) {
        replace(&parts->items, items);
        replace(&parts->mailbox, mailbox);
        replace(&parts->mailbox_end, end);
        return 0;
    }
    if (items >= 0)
        close(items);
    if (mailbox >= 0)
        close(mailbox);
    if (end >= 0)
        close(end);
    return error;
}

apppool_retained_t *apppool_store_takeover(const apppool_retained_t *own,
                                           apppool_store_parts_t *parts)
{
    apppool_retained_t *r = own->older;
    int is_known, error = 0;

    while (r && !has_store(r))
        r = r->older;
    if (!r)
        return NULL;
    is_known = knows_takeover(r) && r->store_format == CONTRACT_STORE_FORMAT;
    if (is_known)
        error = share(r, parts);
    if (is_known && !error)
        return r;
    SAY(APLOG_WARNING, error,
        "AppStore: the new store begins empty, because it cannot take over "
        "the store of the old build in %s%s",
        r->runtime, error ? "" : ": it knows another format");
    return NULL;
}

/* ---- the end of the old store ---- */

/* The directory belongs to the store's user, so no link in it is followed.
 * @return 0, or errno */
static int remove_table(const char *runtime)
{
    char path[PATH];
    int dir, error = 0;

    snprintf(path, sizeof path, "%s/%s", runtime, CONTRACT_STORES);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return errno;
    if (unlinkat(dir, &CONTRACT_STORE_TABLE[sizeof CONTRACT_STORES], 0) != 0 &&
        errno != ENOENT)
        error = errno;
    close(dir);
    return error;
}

int apppool_store_takeover_tell(apppool_retained_t *from)
{
    int error;

    /* Its instance may have ended. */
    if (!apppool_instance_list_is_open(from))
        return 0;
    error = remove_table(from->runtime);
    if (error) {
        SAY(APLOG_ERR, error,
            "AppStore: the store in %s cannot be told to end, and the new one "
            "waits for its end; the next graceful restart tries again",
            from->runtime);
        return -1;
    }
    apl_wake_ring(from->store_bell);
    SAY(APLOG_NOTICE, 0,
        "the store of the new build takes over what the store in %s has",
        from->runtime);
    return 0;
}
