/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sock_diag.h
 * @brief Asks the kernel (sock_diag) for listening sockets and connections:
 *        how many connections wait in the queue of a socket, and how many are
 *        left that httpd has closed. The queues of Unix sockets are also read
 *        from /proc/net/unix, where sock_diag is missing.
 *
 * Errors: -1 with errno: the kernel gave no complete response, so what was
 *         found is not all. ENOTSUP: this kernel never gives one.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_SOCK_DIAG_H
#define APPPOOL_SPAWNER_PROCESS_SOCK_DIAG_H

#include <stdint.h>

/** A Unix socket. Any process can bind the same path in a mount namespace of
 * its own. Inode and device say which file it is. */
typedef struct {
    const char *path; /**< as the program that bound it wrote it */
    int listens;      /**< 0: it is a connection to one that listens */
    uint32_t number;  /**< of the socket itself; 0: not known */
    uint32_t inode;   /**< of the file it is bound to, as the kernel has it */
    uint32_t device;  /**< both 0: not known */
} sock_diag_socket_t;

/** A TCP socket of this machine. */
typedef struct {
    uint32_t port;    /**< it is bound to */
    uint32_t uid;     /**< of the process that made it */
    uint32_t number;  /**< of the socket itself */
    char address[46]; /**< it is bound to; "": a connection */
    int is_loopback;  /**< only this machine reaches it */
} sock_diag_port_t;

/** One listening socket. @param queued connections that were not accepted
 * yet */
typedef void sock_diag_unix_t(const sock_diag_socket_t *at, uint32_t queued,
                              void *ctx);
typedef void sock_diag_tcp_t(const sock_diag_port_t *at, uint32_t queued,
                             void *ctx);

int sock_diag_unix(sock_diag_unix_t *each, void *ctx);
int sock_diag_tcp(sock_diag_tcp_t *each, void *ctx);

/** Call `each` for connections whose other side is closed: those in the queue,
 * and those that were accepted and are not closed. The caller adds up several
 * calls for one address. */
int sock_diag_unix_left(sock_diag_unix_t *each, void *ctx);
int sock_diag_tcp_left(sock_diag_tcp_t *each, void *ctx);

#endif
