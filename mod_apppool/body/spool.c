/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/spool.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <errno.h>
#include <http_core.h>
#include <http_main.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "mod_apppool/config/config.h"

#define PIECE (32 * 1024)   /* of the file, in one bucket */
#define STEP  (1024 * 1024) /* of the file, between two checks of the disk */

struct apppool_spool_t {
    apr_pool_t *pool;
    apr_off_t most;             /* in memory */
    apr_bucket_brigade *memory; /* the first ones */
    apr_file_t *file;           /* those after them; or NULL */
    apr_os_file_t fd;           /* its descriptor */
    apr_off_t in_memory, in_file;
    apr_off_t taken;    /* how many */
    apr_off_t check_at; /* at the disk when there are as many in the file */
    int tight;          /* as was seen then */
};

apppool_spool_t *apppool_spool_make(request_rec *r, apr_off_t most)
{
    apppool_spool_t *spool = apr_pcalloc(r->pool, sizeof *spool);

    spool->pool = r->pool;
    spool->most = most;
    spool->check_at = STEP;
    spool->memory = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    return spool;
}

apr_off_t apppool_spool_size(const apppool_spool_t *spool)
{
    return spool->in_memory + spool->in_file;
}

apr_off_t apppool_spool_left(const apppool_spool_t *spool)
{
    return apppool_spool_size(spool) - spool->taken;
}

/* ---- putting in ---- */

const char *apppool_spool_dir(void)
{
    return apppool_config_server(ap_server_conf).spool_dir;
}

const char *apppool_spool_check_dir(apr_pool_t *p, const char *dir)
{
    struct stat st;

    if (stat(dir, &st) != 0)
        return apr_psprintf(p, "AppPoolSpoolDir %s cannot be used: %s", dir,
                            strerror(errno));
    return S_ISDIR(st.st_mode)
               ? NULL
               : apr_psprintf(p, "AppPoolSpoolDir %s is not a directory", dir);
}

/* As much as any user but root has. */
static int is_tight(int fd)
{
    apr_uint64_t part =
        (apr_uint64_t)apppool_config_server(ap_server_conf).spool_free;
    struct statvfs disk;

    return fstatvfs(fd, &disk) == 0 &&
           disk.f_bavail < disk.f_blocks / 100 * part;
}

int apppool_spool_is_tight(apppool_spool_t *spool)
{
    if (spool->in_file >= spool->check_at) {
        spool->check_at = spool->in_file + STEP;
        spool->tight = is_tight(spool->fd);
    }
    return spool->tight;
}

static apr_status_t make_file(apppool_spool_t *spool)
{
    char *name =
        apr_pstrcat(spool->pool, apppool_spool_dir(), "/apppool.XXXXXX", NULL);
    apr_status_t rv =
        apr_file_mktemp(&spool->file, name,
                        APR_FOPEN_CREATE | APR_FOPEN_READ | APR_FOPEN_WRITE |
                            APR_FOPEN_EXCL | APR_FOPEN_BINARY,
                        spool->pool);

    if (rv != APR_SUCCESS) {
        spool->file = NULL;
        return rv;
    }
    unlink(name);
    return apr_os_file_get(&spool->fd, spool->file);
}

static apr_status_t write_file(apppool_spool_t *spool, const char *bytes,
                               apr_size_t count)
{
    apr_off_t at = spool->in_file;
    ssize_t n;

    while (count > 0) {
        n = pwrite(spool->fd, bytes, count, at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            bytes += n;
            count -= (apr_size_t)n;
            at += n;
        }
    }
    spool->in_file = at;
    return APR_SUCCESS;
}

apr_status_t apppool_spool_put(apppool_spool_t *spool, const char *bytes,
                               apr_size_t count)
{
    apr_status_t rv = APR_SUCCESS;

    if (spool->in_file == 0 &&
        spool->in_memory + (apr_off_t)count <= spool->most) {
        /* A copy: a bucket of eight bytes may hold eight thousand. */
        spool->in_memory += (apr_off_t)count;
        return apr_brigade_write(spool->memory, NULL, NULL, bytes, count);
    }
    if (!spool->file)
        rv = make_file(spool);
    return rv == APR_SUCCESS ? write_file(spool, bytes, count) : rv;
}

/* ---- getting out ---- */

static void copy_memory(apppool_spool_t *spool, apr_bucket_brigade *bb,
                        apr_off_t from, apr_off_t to)
{
    apr_bucket *b, *end, *copy;

    apr_brigade_partition(spool->memory, to, &end);
    apr_brigade_partition(spool->memory, from, &b);
    for (; b != end; b = APR_BUCKET_NEXT(b)) {
        apr_bucket_copy(b, &copy);
        APR_BRIGADE_INSERT_TAIL(bb, copy);
    }
    spool->taken = to;
}

static apr_status_t read_file(apppool_spool_t *spool, apr_bucket_brigade *bb,
                              apr_size_t most)
{
    char *buffer = apr_bucket_alloc(most, bb->bucket_alloc);
    ssize_t n;

    do
        n = pread(spool->fd, buffer, most, spool->taken - spool->in_memory);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        apr_status_t rv = n < 0 ? errno : APR_EOF;

        apr_bucket_free(buffer);
        return rv;
    }
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_heap_create(buffer, (apr_size_t)n,
                                                       apr_bucket_free,
                                                       bb->bucket_alloc));
    spool->taken += n;
    return APR_SUCCESS;
}

apr_status_t apppool_spool_get(apppool_spool_t *spool, apr_bucket_brigade *bb,
                               apr_off_t most)
{
    apr_off_t left = apppool_spool_left(spool);

    if (most > left)
        most = left;
    if (most == 0)
        return APR_SUCCESS;
    if (spool->taken >= spool->in_memory)
        return read_file(spool, bb, most < PIECE ? (apr_size_t)most : PIECE);
    if (most > spool->in_memory - spool->taken)
        most = spool->in_memory - spool->taken;
    copy_memory(spool, bb, spool->taken, spool->taken + most);
    return APR_SUCCESS;
}

void apppool_spool_get_rest(apppool_spool_t *spool, apr_bucket_brigade *bb)
{
    apr_off_t skip;
    apr_bucket *b;

    if (spool->taken < spool->in_memory)
        copy_memory(spool, bb, spool->taken, spool->in_memory);
    skip = spool->taken - spool->in_memory;
    if (skip < spool->in_file) {
        b = apr_brigade_insert_file(bb, spool->file, skip,
                                    spool->in_file - skip, spool->pool);
        apr_bucket_file_enable_mmap(b, 0);
    }
    spool->taken = apppool_spool_size(spool);
}

void apppool_spool_rewind(apppool_spool_t *spool)
{
    spool->taken = 0;
}

void apppool_spool_clear(apppool_spool_t *spool)
{
    apr_brigade_cleanup(spool->memory);
    /* If that fails, the room is used again later. */
    if (spool->in_file > 0 && ftruncate(spool->fd, 0) != 0)
        errno = 0;
    spool->taken = spool->in_memory = spool->in_file = 0;
    spool->check_at = STEP;
    spool->tight = 0;
}
