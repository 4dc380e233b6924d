/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/store_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u /* Linux 6.3; vm.memfd_noexec may demand it */
#endif

/* Bytes of the mailbox: a message for each listening socket takes 1 KB. */
#define MAILBOX (1 << 20)

/* RLIMIT_FSIZE holds for a memfd, and the kernel sends SIGXFSZ. So the limit is
 * raised for a moment, as far as that is allowed, and compared first.
 * @return 0, or errno */
static int resize(int fd, off_t size)
{
    struct rlimit old, most;
    int error = 0;

    if (getrlimit(RLIMIT_FSIZE, &old) != 0)
        return errno;
    most.rlim_cur = most.rlim_max = RLIM_INFINITY;
    if (setrlimit(RLIMIT_FSIZE, &most) != 0) {
        most.rlim_cur = most.rlim_max = old.rlim_max;
        if (setrlimit(RLIMIT_FSIZE, &most) != 0)
            most = old;
    }
    if (most.rlim_cur != RLIM_INFINITY && most.rlim_cur < (rlim_t)size)
        error = EFBIG;
    else if (ftruncate(fd, size) != 0)
        error = errno;
    setrlimit(RLIMIT_FSIZE, &old);
    return error;
}

/* @return descriptor, or -1 and errno */
static int make_memory(const char *name, off_t size)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, error;
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

    if (fd < 0 && errno == EINVAL)
        fd = memfd_create(name, flags);
    if (fd < 0)
        return -1;
    error = resize(fd, size);
    if (!error && fcntl(fd, F_ADD_SEALS, seals) != 0)
        error = errno;
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

/* Of a descriptor that can only read. So a child of httpd cannot make the
 * mapping writable. */
static void *map_figures(int figures)
{
    char path[32];
    void *memory;
    int fd;

    snprintf(path, sizeof path, "/proc/self/fd/%d", figures);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    memory = mmap(NULL, CONTRACT_FIGURES_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

static int make_mailbox(apppool_store_parts_t *parts)
{
    int ends[2], size = MAILBOX;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   ends) != 0)
        return -1;
    parts->mailbox = ends[0];
    parts->mailbox_end = ends[1];
    /* Only root may have that much. */
    if (setsockopt(ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) !=
        0)
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return 0;
}

int apppool_store_parts_make(apppool_store_parts_t *parts)
{
    parts->items = parts->figures = parts->bell = -1;
    parts->mailbox = parts->mailbox_end = -1;
    parts->figures_map = NULL;
    parts->items = make_memory("store-items", CONTRACT_ITEMS_SIZE);
    if (parts->items < 0)
        return errno;
    parts->figures = make_memory("store-figures", CONTRACT_FIGURES_SIZE);
    if (parts->figures < 0)
        return errno;
    parts->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (parts->bell < 0 || make_mailbox(parts) != 0)
        return errno;
    parts->figures_map = map_figures(parts->figures);
    return parts->figures_map ? 0 : errno;
}
