/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/spool.h"

#include <apr_portable.h>
#include <errno.h>
#include <http_core.h>
#include <http_main.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "mod_apppool/body/spool_file.h"
#include "mod_apppool/config/config.h"

#define STEP (1024 * 1024) /* of the file, between two checks of the disk */

struct apppool_spool_t {
    apr_pool_t *pool;
    apr_off_t most;             /* in memory */
    apr_bucket_brigade *memory; /* the first ones */
    int fd;                     /* the file of those after them; or -1 */
    int is_out;                 /* the file is part of a response */
    char *tail;                 /* bytes that will be written together */
    apr_off_t in_memory, in_file, in_tail;
    apr_off_t taken;    /* how many */
    apr_off_t check_at; /* when the file has so many, check the disk */
    int tight;          /* result of that check */
};

apppool_spool_t *apppool_spool_make(request_rec *r, apr_off_t most)
{
    apppool_spool_t *spool = apr_pcalloc(r->pool, sizeof *spool);

    spool->pool = r->pool;
    spool->most = most;
    spool->check_at = STEP;
    spool->fd = -1;
    spool->memory = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    return spool;
}

apr_off_t apppool_spool_size(const apppool_spool_t *spool)
{
    return spool->in_memory + spool->in_file + spool->in_tail;
}

apr_off_t apppool_spool_left(const apppool_spool_t *spool)
{
    return apppool_spool_size(spool) - spool->taken;
}

/* ---- putting in ---- */

/* As much as any user except root has. */
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

static apr_status_t give_file(void *data)
{
    apppool_spool_t *spool = data;

    if (spool->is_out)
        close(spool->fd);
    else
        apppool_spool_file_give(spool->fd);
    spool->fd = -1;
    return APR_SUCCESS;
}

static apr_status_t take_file(apppool_spool_t *spool)
{
    apr_status_t rv = apppool_spool_file_take(&spool->fd, spool->pool);

    if (rv != APR_SUCCESS)
        return rv;
    apr_pool_cleanup_register(spool->pool, spool, give_file,
                              apr_pool_cleanup_null);
    spool->tail = apr_palloc(spool->pool, APPPOOL_SPOOL_PIECE);
    return APR_SUCCESS;
}

static apr_status_t write_file(apppool_spool_t *spool, const char *bytes,
                               apr_off_t count)
{
    apr_off_t done = 0;
    ssize_t n;

    while (done < count) {
        n = pwrite(spool->fd, bytes + done, (apr_size_t)(count - done),
                   spool->in_file + done);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0)
            done += n;
    }
    spool->in_file += count;
    return APR_SUCCESS;
}

static apr_status_t write_tail(apppool_spool_t *spool)
{
    apr_status_t rv = write_file(spool, spool->tail, spool->in_tail);

    if (rv == APR_SUCCESS)
        spool->in_tail = 0;
    return rv;
}

/* httpd reads at most 8 KB at a time. Each such piece would cost a system call
 * if it were written by itself. */
static apr_status_t put_after_memory(apppool_spool_t *spool, const char *bytes,
                                     apr_off_t count)
{
    apr_status_t rv = APR_SUCCESS;

    if (spool->in_tail + count > APPPOOL_SPOOL_PIECE)
        rv = write_tail(spool);
    if (rv != APR_SUCCESS)
        return rv;
    if (count > APPPOOL_SPOOL_PIECE)
        return write_file(spool, bytes, count);
    memcpy(spool->tail + spool->in_tail, bytes, (apr_size_t)count);
    spool->in_tail += count;
    return APR_SUCCESS;
}

apr_status_t apppool_spool_put(apppool_spool_t *spool, const char *bytes,
                               apr_size_t count)
{
    apr_status_t rv = APR_SUCCESS;

    if (spool->in_file + spool->in_tail == 0 &&
        spool->in_memory + (apr_off_t)count <= spool->most) {
        /* Copy the bytes: a bucket of eight bytes may keep a block of eight
         * thousand. */
        spool->in_memory += (apr_off_t)count;
        return apr_brigade_write(spool->memory, NULL, NULL, bytes, count);
    }
    if (spool->fd < 0)
        rv = take_file(spool);
    return rv == APR_SUCCESS ? put_after_memory(spool, bytes, (apr_off_t)count)
                             : rv;
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

/* @param at the first byte, counted from the start of the file
 * @return how many were read; 0: none, and errno says why */
static apr_off_t read_after_memory(const apppool_spool_t *spool, char *buffer,
                                   apr_off_t at, apr_off_t most)
{
    ssize_t n;

    if (at >= spool->in_file) {
        memcpy(buffer, spool->tail + (at - spool->in_file), (apr_size_t)most);
        return most;
    }
    errno = APR_EOF;
    do
        n = pread(spool->fd, buffer, (apr_size_t)most, at);
    while (n < 0 && errno == EINTR);
    return n > 0 ? n : 0;
}

static apr_status_t get_after_memory(apppool_spool_t *spool,
                                     apr_bucket_brigade *bb, apr_off_t most)
{
    apr_size_t size =
        (apr_size_t)(most < APPPOOL_SPOOL_PIECE ? most : APPPOOL_SPOOL_PIECE);
    char *buffer = apr_bucket_alloc(size, bb->bucket_alloc);
    apr_off_t n = read_after_memory(
        spool, buffer, spool->taken - spool->in_memory, (apr_off_t)size);

    if (n == 0) {
        apr_bucket_free(buffer);
        return errno;
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
        return get_after_memory(spool, bb, most);
    if (most > spool->in_memory - spool->taken)
        most = spool->in_memory - spool->taken;
    copy_memory(spool, bb, spool->taken, spool->taken + most);
    return APR_SUCCESS;
}

/* What is in the file, from there on, as a bucket that outlives the spool: it
 * has a descriptor of its own. */
static apr_status_t get_file(apppool_spool_t *spool, apr_bucket_brigade *bb,
                             apr_off_t from)
{
    apr_os_file_t fd = spool->fd;
    apr_file_t *file, *own;
    apr_status_t rv;

    rv = apr_os_file_put(&file, &fd, APR_FOPEN_READ, spool->pool);
    if (rv == APR_SUCCESS)
        rv = apr_file_dup(&own, file, spool->pool);
    if (rv != APR_SUCCESS)
        return rv;
    spool->is_out = 1;
    apr_bucket_file_enable_mmap(apr_brigade_insert_file(bb, own, from,
                                                        spool->in_file - from,
                                                        spool->pool),
                                0);
    return APR_SUCCESS;
}

apr_status_t apppool_spool_get_rest(apppool_spool_t *spool,
                                    apr_bucket_brigade *bb)
{
    apr_status_t rv = APR_SUCCESS;
    apr_off_t skip;

    if (spool->taken < spool->in_memory)
        copy_memory(spool, bb, spool->taken, spool->in_memory);
    skip = spool->taken - spool->in_memory;
    /* mod_http2 makes a stream with many bytes in memory wait for its client.
     * If the bytes cannot be written to the file, the process waits. */
    if (spool->in_tail > 0)
        write_tail(spool);
    if (skip < spool->in_file)
        rv = get_file(spool, bb, skip);
    if (rv != APR_SUCCESS)
        return rv;
    skip = skip > spool->in_file ? skip - spool->in_file : 0;
    spool->taken = apppool_spool_size(spool);
    return skip < spool->in_tail
               ? apr_brigade_write(bb, NULL, NULL, spool->tail + skip,
                                   (apr_size_t)(spool->in_tail - skip))
               : APR_SUCCESS;
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
    spool->taken = spool->in_memory = spool->in_file = spool->in_tail = 0;
    spool->check_at = STEP;
    spool->tight = 0;
}
