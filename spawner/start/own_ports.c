/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/own_ports.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawner/process/sid_scan.h"
#include "spawner/process/sock_diag.h"

#define SOCKETS_MAX     256  /* of the user that listen */
#define DESCRIPTORS_MAX 4096 /* of all processes of the app */

typedef struct {
    uint32_t uid;
    sock_diag_port_t of[SOCKETS_MAX];
    int n;
    int left; /* descriptors that may still be read */
    own_ports_t *found;
} search_t;

uint32_t own_ports_socket(const char *link)
{
    static const char begin[] = "socket:[";
    unsigned long number;
    char *end;

    if (strncmp(link, begin, sizeof begin - 1) != 0)
        return 0;
    link += sizeof begin - 1;
    number = strtoul(link, &end, 10);
    return end != link && strcmp(end, "]") == 0 && number <= UINT32_MAX
               ? (uint32_t)number
               : 0;
}

void own_ports_add(own_ports_t *found, uint32_t port)
{
    uint32_t i;

    for (i = 0; i < found->n; i++)
        if (found->port[i] == port)
            return;
    if (found->n < OWN_PORTS_MAX)
        found->port[found->n++] = (uint16_t)port;
}

static void on_tcp(const sock_diag_port_t *at, uint32_t queued, void *ctx)
{
    search_t *search = ctx;

    (void)queued;
    if (at->uid == search->uid && search->n < SOCKETS_MAX)
        search->of[search->n++] = *at;
}

static void note(const search_t *search, uint32_t number)
{
    int i;

    for (i = 0; i < search->n && number != 0; i++)
        if (search->of[i].number == number)
            own_ports_add(search->found, search->of[i].port);
}

static void read_descriptors(const procfs_t *who, void *ctx)
{
    search_t *search = ctx;
    struct dirent *entry;
    char text[64];
    ssize_t n;
    DIR *dir;

    snprintf(text, sizeof text, "/proc/%d/fd", (int)who->pid);
    dir = opendir(text);
    while (dir && search->left-- > 0 && (entry = readdir(dir)) != NULL) {
        n = readlinkat(dirfd(dir), entry->d_name, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        note(search, own_ports_socket(text));
    }
    if (dir)
        closedir(dir);
}

void own_ports_find(const process_t *p, own_ports_t *found)
{
    search_t search = {
        .uid = p->is.uid, .left = DESCRIPTORS_MAX, .found = found};

    found->n = 0;
    if (sock_diag_tcp(on_tcp, &search) == 0 && search.n > 0)
        sid_scan_each(p, read_descriptors, &search);
}
