/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/access_as.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int apppool_access_as_begin(apppool_access_as_t *was, const char *name,
                            uid_t uid, gid_t gid)
{
    memset(was, 0, sizeof *was);
    if (geteuid() != 0)
        return geteuid() == uid;
    was->gid = getegid();
    was->n = getgroups(0, NULL);
    was->groups = calloc((size_t)(was->n > 0 ? was->n : 1), sizeof(gid_t));
    if (!was->groups)
        return 0;
    if (was->n >= 0 && getgroups(was->n, was->groups) == was->n &&
        (name ? initgroups(name, gid) : setgroups(1, &gid)) == 0 &&
        setegid(gid) == 0 && seteuid(uid) == 0)
        return 1;
    apppool_access_as_end(was);
    return 0;
}

void apppool_access_as_end(apppool_access_as_t *was)
{
    if (!was->groups)
        return;
    /* httpd -t does nothing else afterwards, and began as root. */
    if (seteuid(0) != 0 || setegid(was->gid) != 0 ||
        setgroups((size_t)was->n, was->groups) != 0)
        abort();
    free(was->groups);
    was->groups = NULL;
}

/* May the process not enter it? */
static int is_closed(const char *path)
{
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0 && errno == EACCES;
}

char *apppool_access_as_barrier(char *path)
{
    char *slash;

    if (!is_closed(path))
        return NULL;
    for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (is_closed(path))
            return path;
        *slash = '/';
    }
    return path;
}
