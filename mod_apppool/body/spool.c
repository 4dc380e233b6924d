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
#define STEP  (1024 * 1024) /* of the file, between two looks at the disk */

struct apppool_store_t {
    apr_pool_t *pool;
    apr_off_t most;             /* in memory */
    apr_bucket_brigade *memory; /* the first ones */
    apr_file_t *file;           /* those after them; or NULL */
    apr_os_file_t fd;           /* its descriptor */
    apr_off_t in_memory, in_file;
    apr_off_t got;  /* how many */
    apr_off_t look; /* at the disk when there are as many in the file */
    int tight;      /* as was seen then */
};

apppool_store_t *apppool_store_make(request_rec *r, apr_off_t most)
{
    apppool_store_t *store = apr_pcalloc(r->pool, sizeof *store);

    store->pool = r->pool;
    store->most = most;
    store->look = STEP;
    store->memory = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    return store;
}

apr_off_t apppool_store_size(const apppool_store_t *store)
{
    return store->in_memory + store->in_file;
}

apr_off_t apppool_store_left(const apppool_store_t *store)
{
    return apppool_store_size(store) - store->got;
}

/* ---- putting in ---- */

const char *apppool_store_dir(void)
{
    return apppool_server_of(ap_server_conf).spool_dir;
}

const char *apppool_store_check(apr_pool_t *p, const char *dir)
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
        (apr_uint64_t)apppool_server_of(ap_server_conf).spool_free;
    struct statvfs disk;

    return fstatvfs(fd, &disk) == 0 &&
           disk.f_bavail < disk.f_blocks / 100 * part;
}

int apppool_store_is_tight(apppool_store_t *store)
{
    if (store->in_file >= store->look) {
        store->look = store->in_file + STEP;
        store->tight = is_tight(store->fd);
    }
    return store->tight;
}

static apr_status_t make_file(apppool_store_t *store)
{
    char *name =
        apr_pstrcat(store->pool, apppool_store_dir(), "/apppool.XXXXXX", NULL);
    apr_status_t rv =
        apr_file_mktemp(&store->file, name,
                        APR_FOPEN_CREATE | APR_FOPEN_READ | APR_FOPEN_WRITE |
                            APR_FOPEN_EXCL | APR_FOPEN_BINARY,
                        store->pool);

    if (rv != APR_SUCCESS) {
        store->file = NULL;
        return rv;
    }
    unlink(name);
    return apr_os_file_get(&store->fd, store->file);
}

static apr_status_t write_file(apppool_store_t *store, const char *bytes,
                               apr_size_t count)
{
    apr_off_t at = store->in_file;
    ssize_t n;

    while (count > 0) {
        n = pwrite(store->fd, bytes, count, at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            bytes += n;
            count -= (apr_size_t)n;
            at += n;
        }
    }
    store->in_file = at;
    return APR_SUCCESS;
}

apr_status_t apppool_store_put(apppool_store_t *store, const char *bytes,
                               apr_size_t count)
{
    apr_status_t rv = APR_SUCCESS;

    if (store->in_file == 0 &&
        store->in_memory + (apr_off_t)count <= store->most) {
        /* A copy: a bucket of eight bytes may hold eight thousand. */
        store->in_memory += (apr_off_t)count;
        return apr_brigade_write(store->memory, NULL, NULL, bytes, count);
    }
    if (!store->file)
        rv = make_file(store);
    return rv == APR_SUCCESS ? write_file(store, bytes, count) : rv;
}

/* ---- getting out ---- */

static void copy_memory(apppool_store_t *store, apr_bucket_brigade *bb,
                        apr_off_t from, apr_off_t to)
{
    apr_bucket *b, *end, *copy;

    apr_brigade_partition(store->memory, to, &end);
    apr_brigade_partition(store->memory, from, &b);
    for (; b != end; b = APR_BUCKET_NEXT(b)) {
        apr_bucket_copy(b, &copy);
        APR_BRIGADE_INSERT_TAIL(bb, copy);
    }
    store->got = to;
}

static apr_status_t read_file(apppool_store_t *store, apr_bucket_brigade *bb,
                              apr_size_t most)
{
    char *buffer = apr_bucket_alloc(most, bb->bucket_alloc);
    ssize_t n;

    do
        n = pread(store->fd, buffer, most, store->got - store->in_memory);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        apr_status_t rv = n < 0 ? errno : APR_EOF;

        apr_bucket_free(buffer);
        return rv;
    }
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_heap_create(buffer, (apr_size_t)n,
                                                       apr_bucket_free,
                                                       bb->bucket_alloc));
    store->got += n;
    return APR_SUCCESS;
}

apr_status_t apppool_store_get(apppool_store_t *store, apr_bucket_brigade *bb,
                               apr_off_t most)
{
    apr_off_t left = apppool_store_left(store);

    if (most > left)
        most = left;
    if (most == 0)
        return APR_SUCCESS;
    if (store->got >= store->in_memory)
        return read_file(store, bb, most < PIECE ? (apr_size_t)most : PIECE);
    if (most > store->in_memory - store->got)
        most = store->in_memory - store->got;
    copy_memory(store, bb, store->got, store->got + most);
    return APR_SUCCESS;
}

void apppool_store_rest(apppool_store_t *store, apr_bucket_brigade *bb)
{
    apr_off_t skip;
    apr_bucket *b;

    if (store->got < store->in_memory)
        copy_memory(store, bb, store->got, store->in_memory);
    skip = store->got - store->in_memory;
    if (skip < store->in_file) {
        b = apr_brigade_insert_file(bb, store->file, skip,
                                    store->in_file - skip, store->pool);
        apr_bucket_file_enable_mmap(b, 0);
    }
    store->got = apppool_store_size(store);
}

void apppool_store_rewind(apppool_store_t *store)
{
    store->got = 0;
}

void apppool_store_clear(apppool_store_t *store)
{
    apr_brigade_cleanup(store->memory);
    /* Should that fail, the room is used again later. */
    if (store->in_file > 0 && ftruncate(store->fd, 0) != 0)
        errno = 0;
    store->got = store->in_memory = store->in_file = 0;
    store->look = STEP;
    store->tight = 0;
}
