/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file process_files.h
 * @brief The files of each process in the runtime directory: sockets and FIFOs,
 *        named after its id.
 *
 * Errors: -1 with errno.
 * Crash:  the next spawner finds the files by the id. It removes them with the
 *         process, or at once if no process has that id.
 * Trust:  all directories are root's except a/ID. That belongs to the app's
 *         user. This user may put anything there at any time. So a file there
 *         is used by a descriptor, not by its name (process_files_socket).
 */
#ifndef APPPOOL_SPAWNER_PROCESS_PROCESS_FILES_H
#define APPPOOL_SPAWNER_PROCESS_PROCESS_FILES_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "shm/format/format.h"
#include "base/contract.h"

typedef struct {
    const char *dir;
    int fd;
    uid_t uid; /**< httpd's user. It may connect to the sockets */
    gid_t gid;
} runtime_dir_t;

typedef char process_files_path_t[CONTRACT_SOCKET_PATH_MAX];

/** Make the directories s/ a/ o/ n/ e/ if they are missing, and set their
 * modes. */
int process_files_prepare(const runtime_dir_t *rt);

/** Path of s/ID, o/ID or n/ID (or a/ID with /s). */
void process_files_path(const runtime_dir_t *rt, const char *kind, uint64_t id,
                        process_files_path_t path);

/** The directory of the socket that an app listens on. @param listen
 * APL_LISTEN_*, but not tcp */
const char *process_files_kind(uint32_t listen);

/** s/ID: make a listening socket. It is root's until process_files_admit().
 * @return descriptor */
int process_files_listen(const runtime_dir_t *rt, uint64_t id);

/** s/ID: remove it. From now on, connect() fails at once. */
void process_files_unlisten(const runtime_dir_t *rt, uint64_t id);

/** n/ID: make a datagram socket. The app's user gets it later. */
int process_files_notify(const runtime_dir_t *rt, uint64_t id);

/** Give n/ID to the app's user. @param uid UINT32_MAX: not known, so nothing is
 * done */
int process_files_give(const char *path, uid_t uid, gid_t gid);

/** o/ID: make the FIFO and open it to read. */
int process_files_output(const runtime_dir_t *rt, uint64_t id);

/** Open it to read, after a restart of the spawner. */
int process_files_output_again(const runtime_dir_t *rt, uint64_t id);

/** A loopback port that is free at this moment. @return port, or -1 */
int process_files_port(void);

/**
 * a/ID/s: what the app has put there.
 * @param uid its user; UINT32_MAX: not known yet
 * @return descriptor (O_PATH) of a socket that belongs to that user; -1 with
 *         ENOENT: nothing is there yet; ENOTSOCK: it is something else
 */
int process_files_socket(const runtime_dir_t *rt, uint64_t id, uid_t uid);

/** stat() of the socket that httpd connects to, or will connect to.
 * @param entry the socket that the app has made, if that is not at s/ID yet;
 * or -1 */
int process_files_stat(const runtime_dir_t *rt, uint64_t id, int entry,
                       struct stat *st);

/**
 * From now on httpd's user may connect to the process, at s/ID.
 * @param entry the socket to put there, if the app has made it; or -1
 * @return -1 with ENOENT: the app has removed it
 */
int process_files_admit(const runtime_dir_t *rt, uint64_t id, int entry);

/** Remove the files of a process, without waiting. @return 1: a/ID is left,
 * because it is not empty: process_files_clear() removes it */
int process_files_remove(const runtime_dir_t *rt, uint64_t id);

/** Remove a/ID with its content. This may take long. @return 1: it is still
 * there */
int process_files_clear(const runtime_dir_t *rt, uint64_t id);

/** Call `each` for the id of each file. An id that has several files comes
 * several times. */
void process_files_each(const runtime_dir_t *rt,
                        void (*each)(uint64_t id, void *ctx), void *ctx);

/**
 * Begin to connect to the socket of a process. This does not block.
 * @param entry a socket that the app has made, or -1
 * @return descriptor; -1: no process listens there (yet)
 */
int process_files_connect(const runtime_dir_t *rt, uint64_t id,
                          const apl_wire_t *wire, int entry);

/** Write a small file, mode 0600. The old file is replaced at once. On a full
 * disk it is overwritten instead, and its end may be left. */
int process_files_write(const runtime_dir_t *rt, const char *name,
                        const char *text);

#endif
