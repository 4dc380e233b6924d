/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/bench/yard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/bench/pool.h"

#define FREE  (YARD_SLOTS)
#define BUSY  (YARD_SLOTS + 1)
#define MOVES 6 /* slots that each half of a round puts into another list */
#define LINE  64

/* A reference is checked each time it is followed. */
__attribute__((noinline)) static yard_slot_t *follow(yard_t *y, uint32_t i)
{
    yard_slot_t *s = &y->slots[i];

    if (i >= YARD_SLOTS + 2 || s->next >= YARD_SLOTS + 2 ||
        s->prev >= YARD_SLOTS + 2)
        abort();
    return s;
}

static void append(yard_t *y, uint32_t list, uint32_t i)
{
    yard_slot_t *s = follow(y, i), *head = follow(y, list);

    s->next = list;
    s->prev = head->prev;
    follow(y, head->prev)->next = i;
    head->prev = i;
}

static void take_out(yard_t *y, uint32_t i)
{
    yard_slot_t *s = follow(y, i);

    follow(y, s->prev)->next = s->next;
    follow(y, s->next)->prev = s->prev;
}

yard_t *yard_make(void)
{
    yard_t *y = bench_share(sizeof *y);
    pthread_mutexattr_t attr;
    uint32_t i;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&y->mutex, &attr);
    for (i = FREE; i <= BUSY; i++)
        y->slots[i].next = y->slots[i].prev = i;
    for (i = 0; i < YARD_SLOTS; i++) {
        strcpy(y->slots[i].name, "application");
        append(y, FREE, i);
    }
    return y;
}

void yard_free(yard_t *yard)
{
    munmap(yard, sizeof *yard);
}

/* As the pool does with a name that came with a request. */
static int known(const yard_t *y, const yard_slot_t *s)
{
    return strncmp(s->name, "application", sizeof s->name) == 0 &&
           memcmp(s->options, y->wanted, sizeof s->options) == 0;
}

static void half(yard_t *y, uint32_t from, uint32_t to)
{
    uint32_t i, at;

    if (pthread_mutex_lock(&y->mutex) != 0)
        abort();
    if (!known(y, follow(y, follow(y, from)->next)))
        abort();
    for (i = 0; i < MOVES; i++) {
        at = follow(y, from)->next;
        take_out(y, at);
        append(y, to, at);
    }
    for (i = 0; i < YARD_LINES; i++)
        y->counters[i * 8]++;
    pthread_mutex_unlock(&y->mutex);
}

void yard_round(yard_t *yard)
{
    half(yard, FREE, BUSY);
    half(yard, BUSY, FREE);
}

yard_field_t yard_field(uint32_t n, uint32_t bytes)
{
    yard_field_t f = {bench_share((size_t)n * bytes), n, bytes};

    memset(f.memory, 0, (size_t)n * bytes);
    return f;
}

void yard_field_free(yard_field_t *field)
{
    munmap(field->memory, (size_t)field->n * field->bytes);
}

double yard_read(const yard_field_t *field, uint32_t lines, int rounds)
{
    int64_t begin = bench_ns();
    uint64_t at = 0;
    uint32_t k;
    int i;

    for (i = 0; i < rounds; i++) {
        /* In the same order as the requests of the other side. */
        const char *record =
            field->memory +
            (uint64_t)((uint32_t)i * 7 % field->n) * field->bytes;

        /* All words are 0; the compiler does not know it. */
        for (k = 0; k < lines; k++)
            at = *(const volatile uint64_t *)(record + k * LINE + at);
    }
    if (at != 0)
        abort();
    return (double)(bench_ns() - begin) / rounds;
}
