/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/registry.h"
#include "base/panic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"

static int file = -1;
static uint64_t taken[REGISTRY_MAX / 64]; /* one bit for each record */

static off_t place(uint32_t index)
{
    return (off_t)index * (off_t)sizeof(registry_record_t);
}

static int lock(int fd, int command, struct flock *range)
{
    /* Forked processes do not inherit this kind of lock. */
    *range = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, command, range);
}

/* Is our file still the one of that name? Another spawner may use a copy by
 * now. */
static int has_name(int dirfd)
{
    struct stat ours, there;

    return fstat(file, &ours) == 0 &&
           fstatat(dirfd, CONTRACT_REGISTRY, &there, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

int registry_open(int dirfd)
{
    struct flock range;

    if (file >= 0 && !has_name(dirfd)) {
        close(file);
        file = -1;
    }
    if (file < 0)
        file = openat(dirfd, CONTRACT_REGISTRY,
                      O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0 || lock(file, F_SETLK, &range) != 0)
        return -1;
    if (has_name(dirfd))
        return 0;
    errno = EAGAIN;
    return -1;
}

pid_t registry_owner(void)
{
    struct flock range;

    return lock(file, F_GETLK, &range) == 0 && range.l_type != F_UNLCK
               ? range.l_pid
               : 0;
}

static int copy_to(int copy)
{
    struct stat st;
    off_t at = 0;

    if (fstat(file, &st) != 0)
        return -1;
    while (at < st.st_size)
        if (sendfile(copy, file, &at, (size_t)(st.st_size - at)) <= 0)
            return -1;
    return 0;
}

int registry_copy(int dirfd)
{
    static const char name[] = CONTRACT_REGISTRY ".new";
    struct flock range;
    int copy = openat(
        dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (copy < 0)
        return -1;
    if (copy_to(copy) != 0 || lock(copy, F_SETLK, &range) != 0 ||
        renameat(dirfd, name, dirfd, CONTRACT_REGISTRY) != 0) {
        close(copy);
        return -1;
    }
    close(file);
    file = copy;
    return 0;
}

int registry_take(void)
{
    uint32_t i = 0;

    while (i < REGISTRY_MAX / 64 && taken[i] == UINT64_MAX)
        i++;
    if (i == REGISTRY_MAX / 64)
        return -1;
    i = 64 * i + (uint32_t)__builtin_ctzll(~taken[i]);
    registry_keep(i);
    return (int)i;
}

void registry_keep(uint32_t index)
{
    taken[index / 64] |= (uint64_t)1 << index % 64;
}

int registry_write(uint32_t index, const registry_record_t *record)
{
    ssize_t n;

    PANIC_UNLESS(index < REGISTRY_MAX);
    n = pwrite(file, record, sizeof *record, place(index));
    if (n == (ssize_t)sizeof *record)
        return 0;
    if (n >= 0)
        errno = ENOSPC; /* the rest of the record had no room */
    return -1;
}

void registry_clear(uint32_t index)
{
    registry_record_t none;

    memset(&none, 0, sizeof none);
    registry_write(index, &none);
    taken[index / 64] &= ~((uint64_t)1 << index % 64);
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
                   record->kind <= REGISTRY_TEMPLATE &&
                   record->output_only <= (record->kind == REGISTRY_TEMPLATE) &&
                   record->wire.listen <= APL_LISTEN_TCP
               ? REGISTRY_RECORD
               : REGISTRY_BROKEN;
}

void registry_cut(uint32_t n)
{
    if (ftruncate(file, place(n)) != 0) {
        /* Then the file is longer than necessary. That does no harm. */
    }
}
