/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/listener.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "system/log.h"
#include "spawner/process/guarded_socket.h"

/* The mode is set before it listens, so no client can connect too early.
 * @return descriptor, or -1 with errno */
static int make_socket(const char *path, uid_t user, int backlog)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int error,
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    guarded_socket_begin(fd);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    unlink(path);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        chmod(path, 0600) == 0 &&
        (user == (uid_t)-1 || lchown(path, user, (gid_t)-1) == 0) &&
        listen(fd, backlog) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

int listener_failed(listener_t *l, const char *path, int error)
{
    if (!l->failed)
        log_line(LOG_ERROR,
                 "the control socket %s cannot be made: %s; it is tried again "
                 "each second",
                 path, strerror(error));
    l->failed = 1;
    return -1;
}

int listener_open(listener_t *l, const char *path, uid_t user, int backlog,
                  loop_ready_t *accept)
{
    int fd;

    if (l->source.fd >= 0)
        return 0;
    fd = make_socket(path, user, backlog);
    if (fd < 0 || loop_add(&l->source, fd, EPOLLIN, accept, &l->source) != 0)
        return listener_failed(l, path, errno);
    if (l->failed)
        log_line(LOG_NOTICE, "the control socket %s is made", path);
    l->failed = 0;
    return 0;
}
