/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file yard.h
 * @brief The yardstick of the benchmarks: work of the same kind as the pool's,
 *        by means of libc. A limit in nanoseconds would be right on one
 *        processor only. A limit in locks would be, too: on some processors
 *        locks are cheap and memory is not.
 *
 * A round does in the simplest way what checkout and checkin have to do. It
 * takes the robust mutex of glibc twice, looks up a name, compares a record,
 * moves a slot from one list to another, and counts.
 */
#ifndef APPPOOL_TESTS_BENCH_YARD_H
#define APPPOOL_TESTS_BENCH_YARD_H

#include <pthread.h>
#include <stdint.h>

#define YARD_SLOTS 16
#define YARD_LINES 8 /* that each half of a round writes to */

/* A slot of a circular list, by index. */
typedef struct {
    uint32_t next, prev;
    char name[24];
    uint64_t options[12];
} yard_slot_t;

/* Shared by processes. */
typedef struct {
    pthread_mutex_t mutex;
    yard_slot_t slots[YARD_SLOTS + 2]; /* the last two are heads of lists */
    uint64_t counters[YARD_LINES * 8];
    uint64_t wanted[12];
} yard_t;

yard_t *yard_make(void);
void yard_free(yard_t *yard);

/** One round. */
void yard_round(yard_t *yard);

/** Records in memory, of `size` bytes each. */
typedef struct {
    char *memory;
    uint32_t n, bytes;
} yard_field_t;

yard_field_t yard_field(uint32_t n, uint32_t bytes);
void yard_field_free(yard_field_t *field);

/** ns to read n cache lines of a record, each after the one before it; the mean
 * over several records, one after the other. */
double yard_read(const yard_field_t *field, uint32_t lines, int rounds);

#endif
