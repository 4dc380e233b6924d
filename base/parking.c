/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/parking.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/no_descriptors.h"

#define MESSAGES_MAX 1024 /* more than any queue holds */
#define KIND         (SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

/* A message of one byte, and its descriptors. */
typedef union {
    struct cmsghdr head; /* for the alignment */
    char bytes[CMSG_SPACE(PARKING_MAX * sizeof(int))];
} control_t;

/* Headers older than 6.5; the same on all platforms but these. */
#if !defined(SO_PASSPIDFD) && !defined(__sparc__) && !defined(__hppa__) &&     \
    !defined(__alpha__)
#define SO_PASSPIDFD 76
#endif

static int send_descriptors(int socket, const int *fds, int n)
{
    size_t size = (size_t)n * sizeof *fds;
    control_t control;
    char byte = 0;
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(size)};

    memset(&control, 0, sizeof control);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(&control.head), fds, size);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 : -1;
}

/* Headers older than 6.5. */
#ifndef SCM_PIDFD
#define SCM_PIDFD 4
#endif

/* A child of httpd may ask the kernel for a descriptor of the sender in each
 * message. It is a part of a message that this process has to close. */
static void drop_pidfd(struct msghdr *message, struct cmsghdr *part)
{
    int fd;

    for (; part; part = CMSG_NXTHDR(message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_PIDFD &&
            part->cmsg_len >= CMSG_LEN(sizeof fd)) {
            memcpy(&fd, CMSG_DATA(part), sizeof fd);
            if (fd >= 0)
                close(fd);
        }
}

/* @param most descriptors; the kernel closes all others
 * @return how many; 0: the message has none, or something else comes before
 *         them; -1: errno; there is no message */
static int receive_descriptors(int socket, int *fds, int most, int flags)
{
    control_t control;
    char byte;
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen =
                                 CMSG_LEN((size_t)most * sizeof *fds)};
    struct cmsghdr *head;
    size_t size;
    int n;

    if (recvmsg(socket, &message, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return -1;
    head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_level != SOL_SOCKET ||
        head->cmsg_type != SCM_RIGHTS) {
        drop_pidfd(&message, head);
        return 0;
    }
    drop_pidfd(&message, CMSG_NXTHDR(&message, head));
    size = head->cmsg_len - CMSG_LEN(0);
    memcpy(fds, CMSG_DATA(head), size);
    n = (int)(size / sizeof *fds);
    if (most == 1 || !(message.msg_flags & MSG_CTRUNC))
        return n;
    /* This process may not open as many. */
    while (n-- > 0)
        close(fds[n]);
    errno = EMFILE;
    return -1;
}

/* The kernel chooses the name. Until the socket is connected, any process can
 * send to it. What has come by then is dropped. */
static int make_socket(void)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    socklen_t size = sizeof own;
    int fd = socket(AF_UNIX, KIND, 0);
    char byte;

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&own, sizeof own.sun_family) != 0 ||
        getsockname(fd, (struct sockaddr *)&own, &size) != 0 ||
        connect(fd, (struct sockaddr *)&own, size) != 0) {
        close(fd);
        return -1;
    }
    while (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0)
        ;
    return fd;
}

int parking_make(int n)
{
    int sockets[PARKING_MAX], ends[2], made, error = 0;

    if (n < 1 || n > PARKING_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (socketpair(AF_UNIX, KIND, 0, ends) != 0)
        return -1;
    for (made = 0; made < n && !error; made++) {
        sockets[made] = make_socket();
        if (sockets[made] < 0) {
            error = errno;
            break;
        }
    }
    if (!error && send_descriptors(ends[1], sockets, n) != 0)
        error = errno;
    while (made-- > 0)
        close(sockets[made]);
    close(ends[1]);
    if (!error)
        return ends[0];
    close(ends[0]);
    errno = error;
    return -1;
}

int parking_open(int lot, int sockets[PARKING_MAX])
{
    int n = receive_descriptors(lot, sockets, PARKING_MAX, MSG_PEEK);

    if (n == 0)
        errno = EMFILE;
    return n > 0 ? n : -1;
}

static void set(int socket, int option, int value)
{
    setsockopt(socket, SOL_SOCKET, option, &value, sizeof value);
}

/* Options belong to the socket, so a child of httpd can set them for all. */
void parking_restore(int socket)
{
    set(socket, SO_PASSCRED, 0);
    set(socket, SO_PASSSEC, 0);
#ifdef SO_PASSPIDFD
    set(socket, SO_PASSPIDFD, 0);
#endif
    set(socket, SO_PEEK_OFF, -1);
    set(socket, SO_DETACH_FILTER, 0);
#ifdef SO_PASSRIGHTS
    set(socket, SO_PASSRIGHTS, 1);
#endif
}

int parking_put(int socket, int connection)
{
    parking_cut(socket);
    if (send_descriptors(socket, &connection, 1) == 0)
        return 0;
    parking_restore(socket);
    return send_descriptors(socket, &connection, 1);
}

int parking_copy(int socket)
{
    int fd = -1;

    if (receive_descriptors(socket, &fd, 1, MSG_PEEK) == 1)
        return fd;
    parking_restore(socket);
    return receive_descriptors(socket, &fd, 1, MSG_PEEK) == 1 ? fd : -1;
}

/* @return see receive_descriptors() */
static int end_first(int socket, int flags)
{
    int fd, n = receive_descriptors(socket, &fd, 1, flags);

    if (n == 1) {
        shutdown(fd, SHUT_RDWR);
        close(fd);
    }
    return n;
}

/* A child of httpd can fill the queue, which then holds some hundred messages.
 * A process that may open no more files must not take a message: it would get
 * no descriptor, and what is parked would stay open in the children that have a
 * copy. */
int parking_cut(int socket)
{
    int n, fd, tries = MESSAGES_MAX;

    while (tries-- > 0) {
        n = end_first(socket, MSG_PEEK);
        if (n < 0)
            return 0;
        if (n == 0) {
            parking_restore(socket);
            n = end_first(socket, MSG_PEEK);
        }
        if (n == 0) {
            fd = fcntl(socket, F_DUPFD_CLOEXEC, 0);
            if (fd < 0)
                return -1;
            close(fd);
        }
        end_first(socket, 0);
    }
    return -1;
}
