/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/guarded_socket.h"

#include <fcntl.h>
#include <unistd.h>

#include "system/child_reset.h"
#include "base/no_descriptors.h"

static int by_hand; /* the kernel cannot refuse descriptors */

void guarded_socket_by_hand(void)
{
    by_hand = 1;
}

void guarded_socket_begin(int fd)
{
    int yes = 1;

    if (!by_hand && no_descriptors_refuse(fd) != 0)
        by_hand = 1;
    /* If an urgent byte is not read in line, the kernel may drop it with the
     * descriptors that were sent along, and the reader does not learn of it. */
    if (by_hand)
        setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof yes);
}

/* This recvmsg() only peeks, and has no room for descriptors. So they stay in
 * the queue, and a flag says that they are there. */
static ssize_t look(int fd, void *data, size_t size, int *sent)
{
    struct iovec piece = {data, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    ssize_t n = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);

    *sent = n >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
    return n;
}

ssize_t guarded_socket_recv(int fd, void *data, size_t size, int *sent)
{
    ssize_t n;

    *sent = 0;
    if (!by_hand)
        return recv(fd, data, size, MSG_DONTWAIT);
    n = look(fd, data, size, sent);
    if (n < 0 || *sent)
        return n;
    /* Take no more than was seen: what has come since may contain
     * descriptors. */
    return recv(fd, data, (size_t)n, MSG_DONTWAIT);
}

static int option(int fd, int name)
{
    int value = -1;
    socklen_t length = sizeof value;

    return getsockopt(fd, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

/* Is anything in its queue? From now on nothing more can arrive. */
static int is_unread(int fd)
{
    int sent;
    char byte = 0;
    ssize_t n;

    if (option(fd, SO_DOMAIN) != AF_UNIX)
        return 0;
    shutdown(fd, SHUT_RDWR);
    n = look(fd, &byte, 1, &sent);
    return n > 0 || (n == 0 && option(fd, SO_TYPE) != SOCK_STREAM);
}

/* The pipe ends when the spawner has closed its copy of the socket. Then the
 * copy of this child is the last one. */
static _Noreturn void be_last(int fd, int end)
{
    char byte;

    child_reset_signals();
    if (dup2(fd, 0) < 0 || dup2(end, 1) < 0)
        _exit(1);
    close_range(2, ~0u, 0);
    _exit(read(1, &byte, 1) != 0);
}

static void leave_to_child(int fd)
{
    int ends[2];
    pid_t pid;

    /* If no child can be forked, the socket stays open: it is better to lose a
     * descriptor than to hang. */
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid = fork();
    if (pid == 0)
        be_last(fd, ends[0]);
    if (pid > 0)
        close(fd);
    close(ends[0]);
    close(ends[1]);
}

void guarded_socket_close(int fd)
{
    if (by_hand && is_unread(fd))
        leave_to_child(fd);
    else
        close(fd);
}

void guarded_socket_drop(loop_source_t *source)
{
    int fd = loop_release(source);

    if (fd >= 0)
        guarded_socket_close(fd);
}
