/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spool_file.h
 * @brief Temporary files without a name, which this child of httpd uses again.
 *
 * A file system needs more time to make and remove a file than to write a
 * megabyte into it: ext4 looks for an inode that was not removed lately. So a
 * few empty files stay open. The files are in AppPoolSpoolDir, else in $TMPDIR,
 * else in /var/tmp; not in /tmp, which may be memory, too.
 *
 * Lock:  none; the threads of a child share the empty files by atomic
 *        exchange.
 * Crash: the kernel frees a file with its last descriptor.
 * Trust: the directory may belong to any user. The file is new, and only
 *        httpd's user can read it.
 */
#ifndef MOD_APPPOOL_BODY_SPOOL_FILE_H
#define MOD_APPPOOL_BODY_SPOOL_FILE_H

#include <apr_pools.h>

/** Where temporary files are made. */
const char *apppool_spool_file_dir(void);

/**
 * Can temporary files be made in this directory?
 * @return NULL: yes; or the sentence that says what is wrong
 */
const char *apppool_spool_file_check_dir(apr_pool_t *p, const char *dir);

/** A new child of httpd has no empty files yet. They are closed with its pool.
 */
void apppool_spool_file_init(apr_pool_t *pchild);

/**
 * Take an empty file, or make one.
 * @param fd the descriptor, which the caller owns until it gives it back
 * @return APR_SUCCESS; or why no file can be made: then fd is -1
 */
apr_status_t apppool_spool_file_take(int *fd, apr_pool_t *p);

/** Give it back. Its content is removed. */
void apppool_spool_file_give(int fd);

#endif
