/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file reader.h
 * @brief A client that takes so many bytes and stops: sendmsg() of the program
 *        under test.
 *
 * The program is linked with -Wl,--wrap=sendmsg. What is taken is really sent.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_READER_H
#define APPPOOL_TESTS_UNIT_SUPPORT_READER_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/** From now on the client takes so many bytes, and then none: EAGAIN. SIZE_MAX,
 * as at first: as many as the socket does. */
void reader_takes(size_t n);

/** The writer of a reply (store/protocol/reply.h) to this descriptor, an int. */
ssize_t reader_send(void *fd, struct iovec *, unsigned n);

#endif
