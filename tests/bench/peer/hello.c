// Licensed under the Apache License, Version 2.0; see LICENSE.
/**
 * @file hello.c
 * @brief hello THREADS [SOCKET PROCESSES]: the fastest application that there
 *        is, so that a measurement sees the server in front of it.
 *
 * It answers each HTTP request with the same words, on descriptor 3 or on a
 * Unix socket of its own, and keeps connections. A thread serves one connection
 * at a time.
 */
#include <err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char response[] = "HTTP/1.1 200 OK\r\n"
                               "Content-Type: text/plain\r\n"
                               "Content-Length: 6\r\n\r\nhello\n";
static int listener = 3;

/** Until the client closes the connection. Requests have no body here. */
static void serve(int fd)
{
    char buf[16384];
    size_t have = 0;

    for (;;) {
        ssize_t n = read(fd, buf + have, sizeof buf - 1 - have);

        if (n <= 0)
            return;
        have += (size_t)n;
        buf[have] = '\0';
        if (!strstr(buf, "\r\n\r\n"))
            continue;
        have = 0;
        if (write(fd, response, sizeof response - 1) < 0)
            return;
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

    if (argc > 3)
        listener = listen_at(argv[2]);
    while (--processes > 0 && fork() != 0)
        ;
    while (--threads > 0)
        if (pthread_create(&thread, NULL, serve_connections, NULL))
            errx(1, "cannot start a thread");
    serve_connections(NULL);
}
