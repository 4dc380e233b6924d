/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_handover.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/store_socket.h"
#include "spawner/shared/contract.h"

#define LIMIT 30 /* s: the slaves take what they were not sent yet */

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
    int fd,
        status =
            store_socket_connect(dir, strrchr(CONTRACT_STORE_ADMIN, '/') + 1,
                                 "store that has other hosts", LIMIT, &fd);

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
