/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/clock.h"

#define ITEMS_SIZE (STORE_DIRECTORY + STORE_SPACES * STORE_EXTENT)

static struct {
    int fd; /* of the items; the caller's */
    store_directory_t *directory;
    store_figures_t *figures;
    int64_t began; /* ms, of a clock that nobody sets */
} region = {.fd = -1};

/* A memfd may be sealed against growing, then it has its size already. */
static int grow(int fd, uint64_t size)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return -1;
    return (uint64_t)st.st_size >= size ? 0 : ftruncate(fd, (off_t)size);
}

static void *map(int fd, uint64_t offset, uint64_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);

    return at == MAP_FAILED ? NULL : at;
}

/* A directory without magic was never complete, so it has no items. */
static int format(store_directory_t *directory)
{
    if (directory->magic == 0) {
        memset(directory, 0, sizeof *directory);
        directory->version = STORE_VERSION;
        directory->spaces = STORE_SPACES;
        directory->clock_offset = store_clock_offset();
        STORE_SET_RELEASE(directory->magic, STORE_MAGIC);
    }
    if (directory->magic == STORE_MAGIC &&
        directory->version == STORE_VERSION &&
        directory->spaces == STORE_SPACES)
        return 0;
    errno = EINVAL;
    return -1;
}

/* The pages are given back, so counters that are unused take no memory. */
static int begin_figures(int fd)
{
    if (grow(fd, STORE_FIGURES_SIZE) != 0)
        return -1;
    region.figures = map(fd, 0, STORE_FIGURES_SIZE);
    if (!region.figures)
        return -1;
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  (off_t)STORE_FIGURES_SIZE) != 0)
        memset(region.figures, 0, sizeof *region.figures);
    region.figures->version = STORE_FIGURES_VERSION;
    region.figures->pid = (uint64_t)getpid();
    region.figures->began = (uint64_t)time(NULL);
    region.began = clock_ms();
    STORE_SET_RELEASE(region.figures->magic, STORE_FIGURES_MAGIC);
    return 0;
}

int store_region_open(int items_fd, int figures_fd)
{
    int error;

    if (grow(items_fd, ITEMS_SIZE) == 0 &&
        (region.directory = map(items_fd, 0, STORE_DIRECTORY)) &&
        format(region.directory) == 0 && begin_figures(figures_fd) == 0) {
        region.fd = items_fd;
        store_clock_set(region.directory->clock_offset);
        return 0;
    }
    error = errno;
    store_region_close();
    errno = error;
    return -1;
}

void store_region_close(void)
{
    if (region.directory)
        munmap(region.directory, STORE_DIRECTORY);
    if (region.figures)
        munmap(region.figures, STORE_FIGURES_SIZE);
    region.directory = NULL;
    region.figures = NULL;
    region.fd = -1;
}

store_directory_t *store_region_directory(void)
{
    return region.directory;
}

store_figures_t *store_region_figures(void)
{
    return region.figures;
}

uint64_t store_region_uptime(void)
{
    return (uint64_t)(clock_ms() - region.began) / 1000;
}

static uint64_t begin_of(unsigned slot)
{
    return STORE_DIRECTORY + slot * STORE_EXTENT;
}

char *store_region_extent(unsigned slot)
{
    return map(region.fd, begin_of(slot), STORE_EXTENT);
}

void store_region_unmap(char *extent)
{
    munmap(extent, STORE_EXTENT);
}

uint32_t store_region_pages(unsigned slot)
{
    const off_t begin = (off_t)begin_of(slot),
                end = begin + (off_t)STORE_EXTENT;
    off_t last = begin, at = begin;

    while ((at = lseek(region.fd, at, SEEK_DATA)) >= 0 && at < end) {
        at = lseek(region.fd, at, SEEK_HOLE);
        if (at < 0)
            return (uint32_t)(STORE_EXTENT / STORE_PAGE);
        last = at < end ? at : end;
    }
    return (uint32_t)((last - begin + STORE_PAGE - 1) / STORE_PAGE);
}

/* What has memory; the rest is zero. */
static void write_zeros(off_t at, off_t end)
{
    static const char zeros[STORE_PAGE];

    while ((at = lseek(region.fd, at, SEEK_DATA)) >= 0 && at < end) {
        size_t n = end - at < STORE_PAGE ? (size_t)(end - at) : STORE_PAGE;

        (void)!pwrite(region.fd, zeros, n, at);
        at += (off_t)n;
    }
}

void store_region_punch(unsigned slot, uint32_t first, uint32_t n)
{
    const off_t at = (off_t)(begin_of(slot) + (uint64_t)first * STORE_PAGE),
                size = (off_t)((uint64_t)n * STORE_PAGE);

    if (n > 0 &&
        fallocate(region.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
                  size) != 0)
        write_zeros(at, at + size);
}
