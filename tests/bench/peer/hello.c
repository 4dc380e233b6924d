// Licensed under the Apache License, Version 2.0; see LICENSE.
/**
 * @file hello.c
 * @brief hello THREADS [SOCKET PROCESSES]: the fastest application that there
 *        is, so that a measurement sees the server in front of it.
 *
 * It serves HTTP requests on descriptor 3 or on a Unix socket of its own, and
 * keeps connections. A thread serves one connection at a time. The end of the
 * path says what the response is:
 *
 *     /bytes-N    N bytes
 *     /sleep-N    after N milliseconds, six bytes
 *     any other   six bytes
 *
 * It reads the body of a request and drops it.
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE 65536

static const char hello[] = "HTTP/1.1 200 OK\r\n"
                            "Content-Type: text/plain\r\n"
                            "Content-Length: 6\r\n\r\nhello\n";
static int listener = 3;

/** @return 0 when all was written */
static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, bytes, n);

        if (k <= 0)
            return -1;
        bytes += k;
        n -= (size_t)k;
    }
    return 0;
}

static int respond_bytes(int fd, size_t n)
{
    static char piece[PIECE];
    char head[128];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                          "Content-Length: %zu\r\n\r\n",
                          n);

    if (write_all(fd, head, (size_t)length))
        return -1;
    for (; n > PIECE; n -= PIECE)
        if (write_all(fd, piece, PIECE))
            return -1;
    return write_all(fd, piece, n);
}

/** A proxy may have put something before the path.
 * @return the number behind what, in the path of this request; or -1 */
static long number_in_path(const char *request, const char *what)
{
    const char *end = strstr(request, "\r\n");
    const char *at = strstr(request, what);

    return at && at < end ? strtol(at + strlen(what), NULL, 10) : -1;
}

static int respond(int fd, const char *request)
{
    long bytes = number_in_path(request, "/bytes-");
    long ms = number_in_path(request, "/sleep-");

    if (bytes >= 0)
        return respond_bytes(fd, (size_t)bytes);
    if (ms > 0) {
        struct timespec t = {ms / 1000, ms % 1000 * 1000000};

        nanosleep(&t, NULL);
    }
    return write_all(fd, hello, sizeof hello - 1);
}

/** Read what is left of a body. @return 0 at its end */
static int skip_body(int fd, const char *request, size_t have)
{
    static _Thread_local char piece[PIECE];
    const char *length = strcasestr(request, "\r\ncontent-length:");
    size_t left = length ? strtoul(length + 17, NULL, 10) : 0;

    left -= have < left ? have : left;
    while (left > 0) {
        ssize_t n = read(fd, piece, left < PIECE ? left : PIECE);

        if (n <= 0)
            return -1;
        left -= (size_t)n;
    }
    return 0;
}

/** Until the client closes the connection. */
static void serve(int fd)
{
    char buf[16384];
    size_t have = 0;

    for (;;) {
        ssize_t n = read(fd, buf + have, sizeof buf - 1 - have);
        char *end;

        if (n <= 0)
            return;
        have += (size_t)n;
        buf[have] = '\0';
        end = strstr(buf, "\r\n\r\n");
        if (!end)
            continue;
        end[2] = '\0';
        if (skip_body(fd, buf, have - (size_t)(end + 4 - buf)) ||
            respond(fd, buf))
            return;
        have = 0;
    }
}

static void *serve_connections(void *unused)
{
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd >= 0) {
            serve(fd);
            close(fd);
        }
    }
    return unused;
}

static int listen_at(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strncpy(name.sun_path, path, sizeof name.sun_path - 1);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) ||
        listen(fd, 512))
        err(1, "%s", path);
    return fd;
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    long processes = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    pthread_t thread;

    /* A client that leaves in the middle of a response ends no process. */
    signal(SIGPIPE, SIG_IGN);
    if (argc > 3)
        listener = listen_at(argv[2]);
    while (--processes > 0 && fork() != 0)
        ;
    while (--threads > 0)
        if (pthread_create(&thread, NULL, serve_connections, NULL))
            errx(1, "cannot start a thread");
    serve_connections(NULL);
}
