/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/user_sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/remove_tree.h"
#include "spawner/control/listener.h"
#include "base/privilege.h"
#include "spawner/process/guarded_socket.h"

#define BACKLOG 4

typedef struct usersock {
    struct usersock *next;
    listener_t listener;
    uid_t uid;
    int wanted; /* the new table has this user */
} usersock_t;

typedef struct {
    char at[LISTENER_PATH];
} path_t;

static usersock_t *all;

void user_sockets_begin(const spawner_t *s)
{
    remove_tree(s->rt.fd, CONTRACT_USERS);
}

/* @return 0, or -1 with errno */
static int make_directory(const spawner_t *s)
{
    if (mkdirat(s->rt.fd, CONTRACT_USERS, 0711) != 0 && errno != EEXIST)
        return -1;
    return fchmodat(s->rt.fd, CONTRACT_USERS, 0711, 0);
}

static path_t path_of(const spawner_t *s, uid_t uid)
{
    path_t path;

    snprintf(path.at, sizeof path.at, "%s/" CONTRACT_USERS "/%u", s->rt.dir,
             (unsigned)uid);
    return path;
}

static usersock_t *find(uid_t uid)
{
    usersock_t *u;

    for (u = all; u && u->uid != uid; u = u->next)
        ;
    return u;
}

uid_t user_sockets_owner(const loop_source_t *source)
{
    const usersock_t *u;

    for (u = all; u && &u->listener.source != source; u = u->next)
        ;
    return u ? u->uid : USERDB_NOBODY;
}

/* @return NULL: there is no memory */
static usersock_t *add(uid_t uid)
{
    usersock_t *u = calloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->listener = (listener_t)LISTENER_NONE;
    u->uid = uid;
    u->next = all;
    all = u;
    return u;
}

/* @return 0; -1: the socket is missing */
static int want(const spawner_t *s, uid_t uid, loop_ready_t *accept)
{
    path_t path = path_of(s, uid);
    usersock_t *u = find(uid);

    if (!u && (u = add(uid)) == NULL)
        return -1;
    if (u->wanted) /* by another app, too */
        return u->listener.source.fd >= 0 ? 0 : -1;
    u->wanted = 1;
    if (u->listener.source.fd < 0 && make_directory(s) != 0)
        return listener_failed(&u->listener, path.at, errno);
    return listener_open(&u->listener, path.at, uid, BACKLOG, accept);
}

static void drop_unwanted(const spawner_t *s)
{
    usersock_t **at = &all, *u;

    while ((u = *at) != NULL) {
        if (u->wanted) {
            u->wanted = 0;
            at = &u->next;
            continue;
        }
        *at = u->next;
        unlink(path_of(s, u->uid).at);
        guarded_socket_drop(&u->listener.source);
        free(u);
    }
}

int user_sockets_configure(const spawner_t *s, loop_ready_t *accept)
{
    int missing = 0;
    uint32_t i;

    for (i = 0; geteuid() == 0 && i < s->table->n; i++) {
        uid_t uid = s->table->apps[i].uid;

        if (uid != 0 && uid != USERDB_NOBODY && uid != s->rt.uid)
            missing |= want(s, uid, accept);
    }
    drop_unwanted(s);
    return missing;
}
