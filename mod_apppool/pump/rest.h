/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rest.h
 * @brief What a socket has not taken yet. Nothing here waits.
 *
 *     if (apppool_rest_put(&rest, fd, bytes, n) < 0)
 *         the other end is gone
 *     ...
 *     if (apppool_rest_is_empty(&rest))
 *         there may be more
 *
 * The memory is there only while something is held back: most of the time, none
 * of ten thousand connections needs any. Nothing is read from the other side
 * while there is a rest. So a rest has about the size of one piece.
 */
#ifndef MOD_APPPOOL_PUMP_REST_H
#define MOD_APPPOOL_PUMP_REST_H

#include <sys/types.h>

/** Zeroed at first. */
typedef struct {
    char *bytes; /**< NULL: there are none */
    size_t begin, end;
} apppool_rest_t;

int apppool_rest_is_empty(const apppool_rest_t *rest);

/** Keep bytes behind the others. Nothing is sent. */
void apppool_rest_keep(apppool_rest_t *rest, const char *bytes, size_t n);

/** Send what can be sent without waiting, and keep what is left of `bytes`.
 * @return bytes that were sent, earlier ones too; -1: the other end is gone */
ssize_t apppool_rest_put(apppool_rest_t *rest, int fd, const char *bytes,
                         size_t n);

/** Send what was kept, as far as that is possible without waiting.
 * @return as apppool_rest_put() */
ssize_t apppool_rest_send(apppool_rest_t *rest, int fd);

/** Forget it. */
void apppool_rest_free(apppool_rest_t *rest);

#endif
