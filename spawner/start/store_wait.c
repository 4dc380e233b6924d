/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/store_wait.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawner/process/environment.h"
#include "base/clock_ms.h"
#include "base/contract.h"

#define LIMIT INT64_C(5000) /* ms */
#define LOOK  5             /* ms from one look to the next */
#define UNIX  "unix:"
#define MODE  0666 /* the store sets it when the socket listens */

static int is_there(const char *path)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno != ENOENT;
    return (st.st_mode & MODE) == MODE;
}

/* Without a table no store makes the socket. */
static int is_to_come(const char *socket)
{
    const char *slash = strrchr(socket, '/');
    char table[PATH_MAX];

    snprintf(table, sizeof table, "%.*s%s",
             slash ? (int)(slash + 1 - socket) : 0, socket,
             &CONTRACT_STORE_TABLE[sizeof CONTRACT_STORES]);
    return access(table, F_OK) == 0;
}

void store_wait(const app_entry_t *app)
{
    const char *store = environment_find(app->store_env, "APPPOOL_STORE");
    int64_t limit = app->start_timeout / 2000, until;

    if (!store || strncmp(store, UNIX, strlen(UNIX)) != 0)
        return;
    store += strlen(UNIX);
    until = clock_ms() + (limit < LIMIT ? limit : LIMIT);
    while (!is_there(store) && is_to_come(store) && clock_ms() < until)
        poll(NULL, 0, LOOK);
}
