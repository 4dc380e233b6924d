/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/store_map.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* A file that became smaller would end the reader by SIGBUS. */
static int is_firm(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &st) == 0 &&
           st.st_size >= (off_t)STORE_FIGURES_SIZE;
}

const store_figures_t *store_map(int fd)
{
    void *map = MAP_FAILED;

    if (is_firm(fd))
        map = mmap(NULL, STORE_FIGURES_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}
