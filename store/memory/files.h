/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file files.h
 * @brief The table of the files of a space, which hold large values.
 *
 * The number of a file is its place in the table. A file is mapped and has no
 * descriptor. One that is not needed any more is given back under a lock, and
 * unmapped later without it. It does not count from then on.
 *
 * Lock:  the caller has the lock of the chunks, except of store_files_bytes(),
 *        store_files_set() and those that make and free a table.
 * Crash: the table is private memory: it is gone.
 */
#ifndef APPPOOL_STORE_MEMORY_FILES_H
#define APPPOOL_STORE_MEMORY_FILES_H

#include "store/memory/extent.h"

#define STORE_NO_FILE 0

typedef struct {
    char *bytes; /* NULL: it is reserved, or free */
    uint32_t length;
    uint32_t next;    /* of the free or the given ones */
    store_ref_t item; /* 0: its item is not complete; atomic */
    int is_cold;      /* its page cache was given back */
} store_file_t;

struct store_files {
    store_file_t *file; /* memory where it is used */
    uint32_t free;      /* first of those that were used before, */
    uint32_t given;     /* and of those that are to be unmapped */
    uint32_t end;       /* from here on no place was used */
    uint32_t hand;      /* the next candidate of an eviction */
};

/** @return NULL: no memory */
struct store_files *store_files_make(void);
void store_files_free(struct store_files *);

/** A place for a file of that length. It counts from now on.
 * @return its number; STORE_NO_FILE: the limit of the space is reached */
uint32_t store_files_reserve(store_space_t *, uint32_t length);

/** The file cannot be made. */
void store_files_cancel(store_space_t *, uint32_t number);

/** The file is the value of this item, which may be evicted. The caller has both
 * for itself. */
void store_files_set(store_space_t *, uint32_t number, store_ref_t item);

/** The value is not needed any more. */
void store_files_give(store_space_t *, uint32_t number);

/** Take one that was given back, to unmap it. @return STORE_NO_FILE: none */
uint32_t store_files_take_given(store_space_t *);
/** It is unmapped: its place is free. */
void store_files_forget(store_space_t *, uint32_t number);

/** Could the limit ever allow a file of that length? */
int store_files_fits(const store_space_t *, uint32_t length);

/** The bytes of the value. The caller has a reference to the item. */
static inline char *store_files_bytes(const store_space_t *space,
                                      uint32_t number)
{
    return space->files->file[number].bytes;
}

#endif
