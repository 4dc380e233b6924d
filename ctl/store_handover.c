/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/store_handover.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/store_lines.h"
#include "ctl/store_socket.h"
#include "base/contract.h"

#define LIMIT 30 /* s: the slaves take what they were not sent yet */

/* @return as store_lines_next(); 0: the store closes the connection of other
 * users than root */
static int ask_store(int fd, const char *request, char *response, size_t size)
{
    store_lines_t lines;

    if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
        return 0;
    store_lines_begin(&lines, fd, LIMIT, 0);
    return store_lines_next(&lines, response, size);
}

/* @param done what is printed if it is done */
static int administer(const char *dir, int raw, const char *request,
                      const char *what, const char *done)
{
    char response[256];
    int fd, got,
        status =
            store_socket_connect(dir, strrchr(CONTRACT_STORE_ADMIN, '/') + 1,
                                 "store that has other hosts", LIMIT, &fd);

    if (status != EXIT_OK)
        return status;
    got = ask_store(fd, request, response, sizeof response);
    if (got < 0)
        status = ask_complain(
            EXIT_NO, "the store is too slow: it has not responded in %d s",
            LIMIT);
    else if (got == 0)
        status = ask_complain(
            EXIT_NO, "the store gives no response; only root may ask for %s",
            what);
    else if (strcmp(response, "OK") == 0)
        puts(raw ? "{\"ok\":true}" : done);
    else
        status = ask_complain(EXIT_NO, "no %s: %s", what,
                              strncmp(response, "ERROR ", 6) == 0 ? response + 6
                                                                  : response);
    close(fd);
    return status;
}

int store_handover(const char *dir, int raw)
{
    return administer(dir, raw, "handover\n", "handover",
                      "all slaves have all changes; the store serves nothing "
                      "until its address has moved, or for 30 s");
}

int store_forget(const char *dir, int raw)
{
    return administer(dir, raw, "forget\n", "forget",
                      "this host takes the copy of the next master that it "
                      "meets; until then it is not usable");
}
