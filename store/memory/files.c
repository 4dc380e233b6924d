/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/files.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Of a space. Each mapping counts against vm.max_map_count, which is 65,530 for
 * the process. */
#define FILES_MAX 16384
#define BLOCK     UINT64_C(4096)

struct store_files *store_files_make(void)
{
    struct store_files *files = calloc(1, sizeof *files);

    if (!files)
        return NULL;
    files->file =
        mmap(NULL, FILES_MAX * sizeof *files->file, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    files->end = files->hand = STORE_NO_FILE + 1;
    if (files->file != MAP_FAILED)
        return files;
    free(files);
    return NULL;
}

void store_files_free(struct store_files *files)
{
    uint32_t i;

    if (!files)
        return;
    for (i = STORE_NO_FILE + 1; i < files->end; i++)
        if (files->file[i].bytes)
            munmap(files->file[i].bytes, files->file[i].length);
    munmap(files->file, FILES_MAX * sizeof *files->file);
    free(files);
}

/* ---- what they count ---- */

static uint64_t blocks_of(uint32_t length)
{
    return (length + BLOCK - 1) / BLOCK * BLOCK;
}

static void count(store_space_t *space, const store_file_t *file, uint64_t sign)
{
    STORE_ADD(space->figures->files, sign);
    STORE_ADD(space->figures->file_bytes, sign * blocks_of(file->length));
}

int store_files_fits(const store_space_t *space, uint32_t length)
{
    return blocks_of(length) <= STORE_GET(space->disk);
}

/* ---- places ---- */

uint32_t store_files_reserve(store_space_t *space, uint32_t length)
{
    struct store_files *files = space->files;
    uint32_t number = files->free;
    store_file_t *file;

    if (STORE_GET(space->figures->file_bytes) + blocks_of(length) >
        STORE_GET(space->disk))
        return STORE_NO_FILE;
    if (number != STORE_NO_FILE)
        files->free = files->file[number].next;
    else if (files->end < FILES_MAX)
        number = files->end++;
    else
        return STORE_NO_FILE;
    file = &files->file[number];
    file->bytes = NULL;
    file->length = length;
    file->is_cold = 0;
    STORE_SET(file->item, 0);
    count(space, file, 1);
    return number;
}

void store_files_set(store_space_t *space, uint32_t number, store_ref_t item)
{
    STORE_SET(space->files->file[number].item, item);
}

void store_files_forget(store_space_t *space, uint32_t number)
{
    struct store_files *files = space->files;

    files->file[number].bytes = NULL;
    files->file[number].next = files->free;
    files->free = number;
}

void store_files_cancel(store_space_t *space, uint32_t number)
{
    count(space, &space->files->file[number], (uint64_t)-1);
    store_files_forget(space, number);
}

void store_files_give(store_space_t *space, uint32_t number)
{
    struct store_files *files = space->files;

    STORE_SET(files->file[number].item, 0);
    files->file[number].next = files->given;
    files->given = number;
}

uint32_t store_files_take_given(store_space_t *space)
{
    struct store_files *files = space->files;
    uint32_t number = files->given;

    if (number == STORE_NO_FILE)
        return STORE_NO_FILE;
    files->given = files->file[number].next;
    count(space, &files->file[number], (uint64_t)-1);
    return number;
}
