/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/spool_file.h"

#include <apr_errno.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_main.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod_apppool/config/config.h"

#define KEPT 16 /* empty files */

/* Descriptors plus one; 0: none. */
static int empty[KEPT];

/* ---- the directory ---- */

const char *apppool_spool_file_dir(void)
{
    return apppool_config_server(ap_server_conf).spool_dir;
}

const char *apppool_spool_file_check_dir(apr_pool_t *p, const char *dir)
{
    struct stat st;

    if (stat(dir, &st) != 0)
        return apr_psprintf(p, "AppPoolSpoolDir %s cannot be used: %s", dir,
                            strerror(errno));
    return S_ISDIR(st.st_mode)
               ? NULL
               : apr_psprintf(p, "AppPoolSpoolDir %s is not a directory", dir);
}

/* ---- files ---- */

static int take_empty(void)
{
    int i, found = 0;

    for (i = 0; i < KEPT && found == 0; i++)
        if (__atomic_load_n(&empty[i], __ATOMIC_RELAXED) != 0)
            found = __atomic_exchange_n(&empty[i], 0, __ATOMIC_ACQUIRE);
    return found - 1;
}

/* @return 1: it will be used again */
static int keep_empty(int fd)
{
    int i, expected;

    for (i = 0; i < KEPT; i++) {
        expected = 0;
        if (__atomic_compare_exchange_n(&empty[i], &expected, fd + 1, 0,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return 1;
    }
    return 0;
}

static apr_status_t close_empty(void *unused)
{
    int fd;

    (void)unused;
    while ((fd = take_empty()) >= 0)
        close(fd);
    return APR_SUCCESS;
}

void apppool_spool_file_init(apr_pool_t *pchild)
{
    apr_pool_cleanup_register(pchild, NULL, close_empty, apr_pool_cleanup_null);
}

/* Some file systems (NFS) cannot make a file without a name. Kernels that do
 * not know O_TMPFILE take it for an attempt to write a directory. */
static int make_named(apr_pool_t *p)
{
    char *name =
        apr_pstrcat(p, apppool_spool_file_dir(), "/apppool.XXXXXX", NULL);
    int fd = mkostemp(name, O_CLOEXEC);

    if (fd >= 0)
        unlink(name);
    return fd;
}

apr_status_t apppool_spool_file_take(int *fd, apr_pool_t *p)
{
    *fd = take_empty();
    if (*fd >= 0)
        return APR_SUCCESS;
    *fd = open(apppool_spool_file_dir(),
               O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (*fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        *fd = make_named(p);
    return *fd >= 0 ? APR_SUCCESS : errno;
}

void apppool_spool_file_give(int fd)
{
    if (ftruncate(fd, 0) != 0 || !keep_empty(fd))
        close(fd);
}
