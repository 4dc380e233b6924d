/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/registry.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "spawner/contract.h"

static int file = -1;

static off_t place(uint32_t index)
{
    return (off_t)index * (off_t)sizeof(registry_record_t);
}

int registry_open(int dirfd)
{
    /* This kind of lock is not passed on to the processes we fork. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (file < 0)
        file = openat(dirfd, CONTRACT_REGISTRY,
                      O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return file < 0 ? -1 : fcntl(file, F_SETLK, &whole);
}

int registry_write(uint32_t index, const registry_record_t *record)
{
    return pwrite(file, record, sizeof *record, place(index)) ==
                   (ssize_t)sizeof *record
               ? 0
               : -1;
}

void registry_clear(uint32_t index)
{
    registry_record_t none;

    memset(&none, 0, sizeof none);
    registry_write(index, &none);
}

int registry_read(uint32_t index, registry_record_t *record)
{
    static const registry_record_t none;
    ssize_t n = index < REGISTRY_MAX
                    ? pread(file, record, sizeof *record, place(index))
                    : 0;

    if (n <= 0)
        return REGISTRY_END;
    if (n != (ssize_t)sizeof *record)
        return REGISTRY_BROKEN;
    if (memcmp(record, &none, sizeof none) == 0)
        return REGISTRY_EMPTY;
    record->name[sizeof record->name - 1] = 0;
    return record->magic == REGISTRY_MAGIC && record->id != 0 &&
                   record->pid > 1 && record->state > REGISTRY_FREE &&
                   record->state <= REGISTRY_ENDING &&
                   record->wire.listen <= APL_LISTEN_TCP
               ? REGISTRY_RECORD
               : REGISTRY_BROKEN;
}

void registry_cut(uint32_t n)
{
    if (ftruncate(file, place(n)) != 0) {
        /* Then it is only longer than it need be. */
    }
}
