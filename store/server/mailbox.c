/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/mailbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGES_MAX 4096 /* more than any queue holds */

static int in = -1, out = -1;

/* A message is a name and one descriptor. */
typedef union {
    struct cmsghdr head; /* for the alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
} control_t;

void store_mailbox_open(int into, int from)
{
    int zero = 0;

    in = into;
    out = from;
    setsockopt(out, SOL_SOCKET, SO_PEEK_OFF, &zero, sizeof zero);
}

int store_mailbox_put(const char *name, int fd)
{
    char copy[STORE_NAME] = "";
    control_t control;
    struct iovec bytes = {copy, sizeof copy};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};

    memset(&control, 0, sizeof control);
    strncpy(copy, name, sizeof copy - 1);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    return sendmsg(in, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* @param fd -1: the message has none
 * @return 1; 0: there is no message; -1: errno */
static int receive(char name[STORE_NAME], int *fd, int flags)
{
    control_t control;
    struct iovec bytes = {name, STORE_NAME};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    const struct cmsghdr *head;

    *fd = -1;
    memset(name, 0, STORE_NAME);
    if (recvmsg(out, &message, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return errno == EAGAIN ? 0 : -1;
    name[STORE_NAME - 1] = 0;
    head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET &&
        head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return 1;
}

/* The next peek looks at the first message. */
static void rewind_peek(void)
{
    int zero = 0;

    setsockopt(out, SOL_SOCKET, SO_PEEK_OFF, &zero, sizeof zero);
}

int store_mailbox_peek(void (*take)(void *ctx, const char *name, int fd),
                       void *ctx)
{
    char name[STORE_NAME];
    int fd, rv = 0, n = 0, i;

    rewind_peek();
    for (i = 0; i < MESSAGES_MAX; i++) {
        rv = receive(name, &fd, MSG_PEEK);
        if (rv <= 0)
            break;
        if (fd >= 0) {
            take(ctx, name, fd);
            n++;
        }
    }
    return rv < 0 ? -1 : n;
}

static int count(void)
{
    char name[STORE_NAME];
    int fd, n = 0;

    rewind_peek();
    while (n < MESSAGES_MAX && receive(name, &fd, MSG_PEEK) > 0) {
        if (fd >= 0)
            close(fd);
        n++;
    }
    return n;
}

int store_mailbox_keep(int (*keep)(void *ctx, const char *name, int fd),
                       void *ctx)
{
    char name[STORE_NAME];
    int n = count(), fd, rv;

    while (n-- > 0) {
        rewind_peek();
        if (receive(name, &fd, MSG_PEEK) <= 0)
            return -1;
        rv = fd >= 0 && keep(ctx, name, fd) ? store_mailbox_put(name, fd) : 0;
        if (fd >= 0)
            close(fd);
        if (rv < 0)
            return -1;
        rewind_peek();
        if (receive(name, &fd, 0) <= 0)
            return -1;
        if (fd >= 0)
            close(fd);
    }
    return 0;
}
