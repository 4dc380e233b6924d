/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/user_sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "spawner/common/log.h"
#include "spawner/shared/privilege.h"
#include "spawner/common/remove_tree.h"
#include "spawner/state/guarded_socket.h"

#define BACKLOG 4

typedef struct usersock {
    struct usersock *next;
    loop_source_t source;
    uid_t uid;
    int wanted; /* the new table has this user */
} usersock_t;

static usersock_t *all;

void user_sockets_begin(const spawner_t *s)
{
    remove_tree(s->rt.fd, CONTRACT_USERS);
    if (mkdirat(s->rt.fd, CONTRACT_USERS, 0711) != 0 ||
        fchmodat(s->rt.fd, CONTRACT_USERS, 0711, 0) != 0)
        log_line(LOG_WARN, "%s/%s cannot be made: %s", s->rt.dir,
                 CONTRACT_USERS, strerror(errno));
}

static struct sockaddr_un address(const spawner_t *s, uid_t uid)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    snprintf(at.sun_path, sizeof at.sun_path, "%s/" CONTRACT_USERS "/%u",
             s->rt.dir, (unsigned)uid);
    return at;
}

/* The mode is set before it listens, so no client can connect too early.
 * @return descriptor, or -1 */
static int make_socket(const spawner_t *s, uid_t uid)
{
    struct sockaddr_un at = address(s, uid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    guarded_socket_begin(fd);
    unlink(at.sun_path);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        chmod(at.sun_path, 0600) == 0 &&
        lchown(at.sun_path, uid, (gid_t)-1) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    close(fd);
    return -1;
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

    for (u = all; u && &u->source != source; u = u->next)
        ;
    return u ? u->uid : USERDB_NOBODY;
}

static void want(spawner_t *s, uid_t uid, loop_ready_t *accept)
{
    usersock_t *u = find(uid);
    int fd;

    if (!u) {
        u = calloc(1, sizeof *u);
        fd = u ? make_socket(s, uid) : -1;
        if (fd < 0 || loop_add(&u->source, fd, EPOLLIN, accept, &u->source)) {
            log_line(LOG_WARN, "%s/" CONTRACT_USERS "/%u cannot be made: %s",
                     s->rt.dir, (unsigned)uid, strerror(errno));
            free(u);
            return;
        }
        u->uid = uid;
        u->next = all;
        all = u;
    }
    u->wanted = 1;
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
        unlink(address(s, u->uid).sun_path);
        guarded_socket_drop(&u->source);
        free(u);
    }
}

void user_sockets_configure(spawner_t *s, loop_ready_t *accept)
{
    uint32_t i;

    for (i = 0; geteuid() == 0 && i < s->table->n; i++) {
        uid_t uid = s->table->apps[i].uid;

        if (uid != 0 && uid != USERDB_NOBODY && uid != s->rt.uid)
            want(s, uid, accept);
    }
    drop_unwanted(s);
}
