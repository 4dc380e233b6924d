/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/socket_owner.h"

#include <unistd.h>

#define NOBODY 0 /* no process has this id */

static struct {
    uint32_t number; /* of our own socket */
    uint32_t inode, device;
} learned;

static int comparable;

static void on_own(const sock_diag_socket_t *at, uint32_t queued, void *ctx)
{
    (void)queued;
    (void)ctx;
    if (at->number != learned.number || at->inode == 0)
        return;
    learned.inode = at->inode;
    learned.device = at->device;
}

void socket_owner_learn(const runtime_dir_t *rt)
{
    int fd = process_files_listen(rt, NOBODY);
    struct stat own, file;

    comparable = 0;
    if (fd < 0)
        return;
    if (fstat(fd, &own) == 0 &&
        process_files_stat(rt, NOBODY, -1, &file) == 0) {
        learned.number = (uint32_t)own.st_ino;
        learned.inode = 0;
        comparable = sock_diag_unix(on_own, NULL) == 0 && learned.inode != 0 &&
                     learned.inode == (uint32_t)file.st_ino;
    }
    close(fd);
    process_files_remove(rt, NOBODY);
}

process_t *socket_owner_find(const spawner_t *s, const sock_diag_socket_t *at)
{
    process_t *p = process_of_path(s, at->path);
    struct stat st;

    if (!p || !comparable || at->inode == 0)
        return p;
    if (at->device != learned.device ||
        process_files_stat(&s->rt, p->is.id, p->ready.socket, &st) != 0 ||
        at->inode != (uint32_t)st.st_ino)
        return NULL;
    return p;
}
