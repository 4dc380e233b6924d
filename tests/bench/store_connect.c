/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/bench/store_connect.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int store_connect(const char *address)
{
    struct sockaddr_un unix_address = {.sun_family = AF_UNIX};
    struct sockaddr_in address_in = {.sin_family = AF_INET};
    const char *port = strrchr(address, ':');
    char host[64];
    int fd, is_unix = address[0] == '/';

    if (is_unix)
        snprintf(unix_address.sun_path, sizeof unix_address.sun_path, "%s",
                 address);
    else if (port && port - address < (long)sizeof host) {
        snprintf(host, sizeof host, "%.*s", (int)(port - address), address);
        inet_pton(AF_INET, host, &address_in.sin_addr);
        address_in.sin_port = htons((uint16_t)atoi(port + 1));
    }
    fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || (is_unix ? connect(fd, (struct sockaddr *)&unix_address,
                                     sizeof unix_address)
                           : connect(fd, (struct sockaddr *)&address_in,
                                     sizeof address_in)) != 0) {
        perror(address);
        exit(1);
    }
    return fd;
}
