/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* URLs that use memory. */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sample.h"

#define PAGE 4096

static unsigned char *map(size_t mb, int sharing)
{
    unsigned char *place = mmap(NULL, mb << 20, PROT_READ | PROT_WRITE,
                                MAP_ANONYMOUS | sharing, -1, 0);

    if (place == MAP_FAILED)
        return NULL;
    return memset(place, 'x', mb << 20);
}

void memory_eat(size_t mb)
{
    map(mb, MAP_PRIVATE);
}

/* /eat?mb=N: memory of its own */
int url_eat(request_t *r)
{
    memory_eat(request_number(r, "mb", 0));
    respond_pid(r);
    return KEEP;
}

/* Memory of its own, and /hold. */
int url_gorge(request_t *r)
{
    memory_eat(100);
    return url_hold(r);
}

/* /child?mb=N: memory of a process that it has started */
int url_child(request_t *r)
{
    if (fork() == 0) {
        memory_eat(request_number(r, "mb", 0));
        for (;;)
            pause();
    }
    respond_pid(r);
    return KEEP;
}

/* /share?mb=N: memory that it shares with four other processes */
int url_share(request_t *r)
{
    size_t mb = request_number(r, "mb", 0), at;
    const unsigned char *shared = map(mb, MAP_SHARED);
    unsigned seen = 0;
    int i;

    for (i = 0; shared && i < 4; i++)
        if (fork() == 0) {
            for (at = 0; at < mb << 20; at += PAGE)
                seen += shared[at];
            dprintf(2, "has %u\n", seen);
            for (;;)
                pause();
        }
    respond_pid(r);
    return KEEP;
}
