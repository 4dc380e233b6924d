/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/save_files.h"

#include <errno.h>
#include <unistd.h>

/* Numbers may begin again after the last one. A build without them writes 0, and
 * knows only one of the files. */
static int is_newer(const store_snapshot_head_t *a,
                    const store_snapshot_head_t *b)
{
    if (a->whole != b->whole)
        return a->whole;
    if (a->number == 0 || b->number == 0)
        return a->changed > b->changed;
    return (int32_t)(a->number - b->number) > 0;
}

/* Higher than that of each file. */
static uint32_t next_number(const store_save_files_t *f)
{
    store_snapshot_head_t head;
    uint32_t last = 0;
    int i;

    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && store_snapshot_look(f->fd[i], &head) &&
            (last == 0 || (int32_t)(head.number - last) > 0))
            last = head.number;
    return last == UINT32_MAX ? 1 : last + 1;
}

/* @return which one; -1: none has anything */
static int find_newest(const store_save_files_t *f, store_snapshot_head_t *best)
{
    store_snapshot_head_t head;
    int i, found = -1;

    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && store_snapshot_look(f->fd[i], &head) &&
            (found < 0 || is_newer(&head, best))) {
            *best = head;
            found = i;
        }
    return found;
}

int store_save_files_newest(const store_save_files_t *f,
                            store_snapshot_head_t *head)
{
    int i = find_newest(f, head);

    return i < 0 ? -1 : f->fd[i];
}

int store_save_files_next(const store_save_files_t *f, int spare,
                          uint32_t *number)
{
    store_snapshot_head_t head = {0};
    int i, newest = find_newest(f, &head);

    *number = next_number(f);
    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && (newest < 0 || !head.whole || i != newest))
            return f->fd[i];
    return newest >= 0 && !spare ? f->fd[newest] : -1;
}

int store_save_files_empty(const store_save_files_t *f)
{
    int i, error = 0;

    for (i = 0; i < STORE_SAVE_FILES; i++)
        if (f->fd[i] >= 0 && ftruncate(f->fd[i], 0) != 0)
            error = errno;
    return error;
}
