/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file pending.h
 * @brief Bytes that a socket has not taken yet. Nothing here waits.
 *
 *     if (apppool_pending_put(&pending, fd, bytes, n) < 0)
 *         the other end is gone
 *     ...
 *     if (apppool_pending_is_empty(&pending))
 *         there may be more
 *
 * The memory is there only while something is held back: most of the time, none
 * of ten thousand connections needs any. Nothing is read from the other side
 * while bytes are pending. So they are about one piece.
 */
#ifndef MOD_APPPOOL_PUMP_PENDING_H
#define MOD_APPPOOL_PUMP_PENDING_H

#include <sys/types.h>

/** Zeroed at first. */
typedef struct {
    char *bytes; /**< NULL: there are none */
    size_t begin, end;
} apppool_pending_t;

int apppool_pending_is_empty(const apppool_pending_t *pending);

/** Keep bytes behind the others. Nothing is sent. */
void apppool_pending_keep(apppool_pending_t *pending, const char *bytes,
                          size_t n);

/** Send what can be sent without waiting, and keep what is left of `bytes`.
 * @return bytes that were sent, earlier ones too; -1: the other end is gone */
ssize_t apppool_pending_put(apppool_pending_t *pending, int fd,
                            const char *bytes, size_t n);

/** Send what was kept, as far as that is possible without waiting.
 * @return as apppool_pending_put() */
ssize_t apppool_pending_send(apppool_pending_t *pending, int fd);

/** Forget the bytes. */
void apppool_pending_free(apppool_pending_t *pending);

#endif
