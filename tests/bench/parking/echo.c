/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file echo.c
 * @brief echo [SOCKET]: an application with thousands of long-lived connections
 *        in one thread.
 *
 * It serves descriptor 3, or a Unix socket of its own. A request with Upgrade
 * gets 101, and then a WebSocket frame with "ping" for each frame of ten bytes,
 * which is what visitors.c sends. /events is an event stream, and /tick sends an
 * event to all of them. Any other request gets six bytes.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define FILES 65536
#define FRAME 10

typedef enum { ASKS, ECHOES, STREAMS } kind_t;

static struct {
    kind_t kind;
    size_t n; /* bytes of a request, or of a frame */
    char request[2048];
} * clients[FILES];
static int listener = 3, poll;

static void say(int fd, const char *text)
{
    if (send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        shutdown(fd, SHUT_RDWR);
}

static void tick(void)
{
    int fd;

    for (fd = 0; fd < FILES; fd++)
        if (clients[fd] && clients[fd]->kind == STREAMS)
            say(fd, "d\r\ndata: tick\n\n\r\n");
}

static void respond(int fd)
{
    const char *request = clients[fd]->request;

    clients[fd]->n = 0;
    if (strcasestr(request, "\r\nupgrade: websocket")) {
        clients[fd]->kind = ECHOES;
        say(fd, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                "Upgrade: websocket\r\n\r\n");
    }
    else if (!strncmp(request, "GET /events ", 12)) {
        clients[fd]->kind = STREAMS;
        say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                "Transfer-Encoding: chunked\r\n\r\n");
    }
    else {
        if (!strncmp(request, "GET /tick ", 10))
            tick();
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n");
    }
}

static void read_request(int fd, const char *bytes, size_t n)
{
    char *request = clients[fd]->request;

    if (clients[fd]->n + n >= sizeof clients[fd]->request)
        errx(1, "a long request");
    memcpy(request + clients[fd]->n, bytes, n);
    clients[fd]->n += n;
    request[clients[fd]->n] = 0;
    if (strstr(request, "\r\n\r\n"))
        respond(fd);
}

static void serve(int fd)
{
    char bytes[1024];
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (n <= 0) {
        free(clients[fd]);
        clients[fd] = NULL;
        close(fd);
    }
    else if (clients[fd]->kind == ASKS)
        read_request(fd, bytes, (size_t)n);
    else if (clients[fd]->kind == ECHOES)
        for (clients[fd]->n += (size_t)n; clients[fd]->n >= FRAME;
             clients[fd]->n -= FRAME)
            say(fd, "\x81\x04ping");
}

static void watch(int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0)
        err(1, "epoll_ctl");
}

static void welcome(void)
{
    int fd = accept(listener, NULL, NULL);

    if (fd < 0)
        return;
    if (fd >= FILES)
        errx(1, "too many clients");
    clients[fd] = calloc(1, sizeof *clients[fd]);
    if (!clients[fd])
        err(1, "calloc");
    watch(fd);
}

static void listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, 0777) != 0 || listen(listener, 4096) != 0)
        err(1, "%s", path);
}

int main(int n, char **args)
{
    struct epoll_event events[64];
    int i;

    if (n > 1)
        listen_at(args[1]);
    poll = epoll_create1(0);
    watch(listener);
    for (;;) {
        n = epoll_wait(poll, events, 64, -1);
        for (i = 0; i < n; i++)
            if (events[i].data.fd == listener)
                welcome();
            else
                serve(events[i].data.fd);
    }
}
