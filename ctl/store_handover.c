/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_handover.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "spawner/shared/contract.h"

#define LIMIT 30 /* s: the slaves take what they were not sent yet */

/* @return an exit status */
static int connect_to(const char *dir, int *fd)
{
    static const struct timeval limit = {LIMIT, 0};
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    if (!ask_path(dir, CONTRACT_STORE_ADMIN, at.sun_path, sizeof at.sun_path))
        return ask_complain(EXIT_NO, "%s: the path is too long", dir);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 &&
        setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        connect(*fd, (struct sockaddr *)&at, sizeof at) == 0)
        return EXIT_OK;
    if (errno == ENOENT)
        ask_complain(EXIT_NO, "there is no store that has other hosts");
    else
        ask_complain(EXIT_NO, "cannot connect to the store: %s",
                     strerror(errno));
    if (*fd >= 0)
        close(*fd);
    return EXIT_NOT_RUNNING;
}

/* @return bytes; 0: the store does not respond. It closes the connection of
 * other users than root. */
static size_t ask_store(int fd, char *response, size_t size)
{
    static const char request[] = "handover\n";
    ssize_t n = send(fd, request, sizeof request - 1, MSG_NOSIGNAL);

    if (n > 0)
        n = recv(fd, response, size - 1, MSG_WAITALL);
    response[n > 0 ? n : 0] = 0;
    response[strcspn(response, "\n")] = 0;
    return strlen(response);
}

int store_handover(const char *dir, int raw)
{
    char response[256];
    int fd = -1, status = connect_to(dir, &fd);

    if (status != EXIT_OK)
        return status;
    if (ask_store(fd, response, sizeof response) == 0)
        status = ask_complain(EXIT_NO, "the store gives no response; only root "
                                       "may ask for a handover");
    else if (strcmp(response, "OK") == 0)
        puts(raw ? "{\"ok\":true}"
                 : "all slaves have all changes; the store serves nothing "
                   "until its address has moved, or for 30 s");
    else
        status = ask_complain(EXIT_NO, "no handover: %s",
                              strncmp(response, "ERROR ", 6) == 0 ? response + 6
                                                                  : response);
    close(fd);
    return status;
}
