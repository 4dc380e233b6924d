/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/sock_diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define LISTENING (1u << TCP_LISTEN)
#define ACCEPTED  (1u << TCP_ESTABLISHED)
#define LEFT      (1u << TCP_CLOSE_WAIT)
#define UNREAD    (1u << TCP_FIN_WAIT1)
#define NO_ROOM   4 /* idiag_timer: the buffer of the other side is full */

/* Shut down in both directions: the value of UNIX_DIAG_SHUTDOWN for a
 * connection whose other side was closed. */
#define GONE      (SHUT_RDWR + 1)

typedef void each_t(const struct nlmsghdr *message, void *ctx);

typedef struct {
    sock_diag_unix_t *on_unix;
    sock_diag_tcp_t *on_tcp;
    void *ctx;
    int n; /* Unix sockets that were reported */
} asker_t;

/* The next part of a message. The kernel's own macros mix signed and unsigned
 * numbers. */
static const void *after(const void *at, size_t length)
{
    return (const char *)at + length;
}

/* A kernel without this sock_diag, or a filter of system calls, gives one of
 * these errors each time. */
static int is_missing(int error)
{
    return error == ENOENT || error == EPROTONOSUPPORT ||
           error == EAFNOSUPPORT || error == EPERM || error == EACCES ||
           error == ENOSYS;
}

/* The number that NLMSG_DONE and NLMSG_ERROR begin with. @return errno; 0 */
static int error_of(const struct nlmsghdr *m)
{
    int error = 0;

    if (m->nlmsg_len >= NLMSG_LENGTH(sizeof error))
        memcpy(&error, NLMSG_DATA(m), sizeof error);
    return -error;
}

/* Read the messages of a dump. @return 0; or errno: it is not complete */
static int read_dump(int fd, each_t *each, void *ctx)
{
    static char response[16384] __attribute__((aligned(8)));

    for (;;) {
        ssize_t n = recv(fd, response, sizeof response, 0);
        const struct nlmsghdr *m = (const void *)response;
        const char *end;

        if (n <= 0)
            return n < 0 ? errno : EIO;
        end = response + n;
        for (; NLMSG_OK(m, (size_t)(end - (const char *)m));
             m = after(m, NLMSG_ALIGN(m->nlmsg_len))) {
            if (m->nlmsg_type == NLMSG_DONE)
                return error_of(m);
            if (m->nlmsg_type == NLMSG_ERROR)
                return error_of(m) != 0 ? error_of(m) : EIO;
            each(m, ctx);
        }
    }
}

/* Ask for a dump. */
static int ask(const void *request, size_t length, each_t *each, void *ctx)
{
    struct {
        struct nlmsghdr head;
        char body[64];
    } out;
    struct timeval limit = {1, 0};
    int error;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    error = fd < 0 ? errno : 0;
    if (error == 0) {
        memset(&out, 0, sizeof out);
        out.head.nlmsg_len = (uint32_t)NLMSG_LENGTH(length);
        out.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
        out.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        memcpy(out.body, request, length);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        error = send(fd, &out, out.head.nlmsg_len, 0) < 0
                    ? errno
                    : read_dump(fd, each, ctx);
        close(fd);
    }
    if (error == 0)
        return 0;
    errno = is_missing(error) ? ENOTSUP : error;
    return -1;
}

/* ---- unix ---- */

static void unix_found(const struct nlmsghdr *m, void *ctx)
{
    asker_t *asker = ctx;
    const struct unix_diag_msg *body = NLMSG_DATA(m);
    const struct rtattr *at = after(m, NLMSG_SPACE(sizeof *body));
    const char *end = after(m, m->nlmsg_len);
    struct unix_diag_rqlen queue = {0, 0};
    struct unix_diag_vfs file = {0, 0};
    sock_diag_socket_t found = {0};
    char path[128] = "";
    uint8_t down = 0;

    for (; end - (const char *)at >= (ptrdiff_t)sizeof *at &&
           at->rta_len >= sizeof *at && at->rta_len <= end - (const char *)at;
         at = after(at, RTA_ALIGN(at->rta_len))) {
        size_t n = RTA_PAYLOAD(at);

        if (at->rta_type == UNIX_DIAG_NAME && n < sizeof path) {
            memcpy(path, RTA_DATA(at), n);
            path[n] = 0;
        }
        if (at->rta_type == UNIX_DIAG_RQLEN && n >= sizeof queue)
            memcpy(&queue, RTA_DATA(at), sizeof queue);
        if (at->rta_type == UNIX_DIAG_SHUTDOWN && n >= sizeof down)
            memcpy(&down, RTA_DATA(at), sizeof down);
        if (at->rta_type == UNIX_DIAG_VFS && n >= sizeof file)
            memcpy(&file, RTA_DATA(at), sizeof file);
    }
    if (!path[0])
        return;
    found.path = path;
    found.listens = body->udiag_state == TCP_LISTEN;
    found.number = body->udiag_ino;
    found.inode = file.udiag_vfs_ino;
    found.device = file.udiag_vfs_dev;
    asker->n++;
    asker->on_unix(&found, found.listens ? queue.udiag_rqueue : down == GONE,
                   asker->ctx);
}

/* A connection that was not accepted yet is listed as a socket of its own, in
 * state 02, with the path of the listening socket. */
static int read_proc(const asker_t *asker)
{
    FILE *file = fopen("/proc/net/unix", "re");
    char line[256], path[128];
    sock_diag_socket_t found = {.path = path};
    unsigned flags, state;

    if (!file)
        return -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%*s %*x %*x %x %*x %x %*u %127s", &flags, &state,
                   path) == 3) {
            found.listens = (flags & 0x10000) != 0;
            if (found.listens || state == 2)
                asker->on_unix(&found, !found.listens, asker->ctx);
        }
    fclose(file);
    return 0;
}

static int ask_unix(asker_t *asker, uint32_t states)
{
    struct unix_diag_req request;

    memset(&request, 0, sizeof request);
    request.sdiag_family = AF_UNIX;
    request.udiag_states = states;
    request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS | UDIAG_SHOW_RQLEN;
    request.udiag_cookie[0] = request.udiag_cookie[1] = ~0u;
    return ask(&request, sizeof request, unix_found, asker);
}

/* No socket is reported twice: a dump that breaks off has failed. */
int sock_diag_unix(sock_diag_unix_t *each, void *ctx)
{
    asker_t asker = {.on_unix = each, .ctx = ctx};

    if (ask_unix(&asker, LISTENING) == 0)
        return 0;
    return asker.n == 0 ? read_proc(&asker) : -1;
}

int sock_diag_unix_left(sock_diag_unix_t *each, void *ctx)
{
    asker_t asker = {.on_unix = each, .ctx = ctx};

    return ask_unix(&asker, LISTENING | ACCEPTED);
}

/* ---- tcp ---- */

/* The kernel has IPv4 addresses in IPv6 sockets as ::ffff:127.0.0.1. */
static void name_address(const struct inet_diag_msg *body,
                         sock_diag_port_t *found)
{
    const unsigned char *at = (const unsigned char *)body->id.idiag_src;
    static const unsigned char one[16] = {[15] = 1},
                               mapped[12] = {[10] = 0xff, [11] = 0xff};
    int is6 = body->idiag_family == AF_INET6;

    if (!inet_ntop(is6 ? AF_INET6 : AF_INET, at, found->address,
                   sizeof found->address))
        found->address[0] = 0;
    found->is_loopback =
        !is6 ? at[0] == 127
             : memcmp(at, one, sizeof one) == 0 ||
                   (memcmp(at, mapped, sizeof mapped) == 0 && at[12] == 127);
}

static void tcp_found(const struct nlmsghdr *m, void *ctx)
{
    const asker_t *asker = ctx;
    const struct inet_diag_msg *body = NLMSG_DATA(m);
    sock_diag_port_t found = {ntohs(body->id.idiag_sport), body->idiag_uid,
                              body->idiag_inode, "", 1};

    /* The side that httpd has closed. Its FIN waits behind data that the app
     * has not read. */
    if (body->idiag_state == TCP_FIN_WAIT1) {
        found.port = ntohs(body->id.idiag_dport);
        if (body->idiag_timer == NO_ROOM)
            asker->on_tcp(&found, 1, asker->ctx);
        return;
    }
    if (body->idiag_state == TCP_LISTEN)
        name_address(body, &found);
    asker->on_tcp(&found,
                  body->idiag_state == TCP_LISTEN ? body->idiag_rqueue : 1,
                  asker->ctx);
}

static int ask_tcp(asker_t *asker, uint32_t states)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    struct inet_diag_req_v2 request;
    int i, missing = 0;

    for (i = 0; i < 2; i++) {
        memset(&request, 0, sizeof request);
        request.sdiag_family = families[i];
        request.sdiag_protocol = IPPROTO_TCP;
        request.idiag_states = states;
        if (ask(&request, sizeof request, tcp_found, asker) == 0)
            continue;
        if (errno != ENOTSUP)
            return -1;
        missing++;
    }
    return missing == 2 ? -1 : 0;
}

int sock_diag_tcp(sock_diag_tcp_t *each, void *ctx)
{
    asker_t asker = {.on_tcp = each, .ctx = ctx};

    return ask_tcp(&asker, LISTENING);
}

int sock_diag_tcp_left(sock_diag_tcp_t *each, void *ctx)
{
    asker_t asker = {.on_tcp = each, .ctx = ctx};

    return ask_tcp(&asker, LEFT | UNREAD);
}
