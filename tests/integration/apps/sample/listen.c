/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The socket of the app. */

#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sample.h"

static int listen_there(int fd, const void *address, socklen_t size)
{
    const char *backlog = variable("APP_BACKLOG");

    if (bind(fd, address, size) < 0 ||
        listen(fd, backlog ? atoi(backlog) : 64) < 0) {
        perror("bind");
        exit(1);
    }
    return fd;
}

int listening(void)
{
    const char *pid = variable("LISTEN_PID"), *path, *port;
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    struct sockaddr_in local = {.sin_family = AF_INET};
    int fd, one = 1;

    if (variable("LISTEN_FDS")) {
        if (pid && atoi(pid) == getpid())
            return 3;
        fputs("LISTEN_PID is not this process\n", stderr);
        exit(1);
    }
    if ((path = variable("APPPOOL_SOCKET"))) {
        strncpy(place.sun_path, path, sizeof place.sun_path - 1);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return listen_there(fd, &place, sizeof place);
    }
    port = variable("PORT");
    local.sin_port = htons((uint16_t)atoi(port ? port : "0"));
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    return listen_there(fd, &local, sizeof local);
}
