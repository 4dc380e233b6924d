/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/parent.h"

#include <apr_file_io.h>
#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_log.h>
#include <http_main.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod_apppool/config/store.h"
#include "mod_apppool/config/store_user.h"
#include "base/contract.h"
#include "mod_apppool/config/store_cluster.h"
#include "mod_apppool/config/store_key.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, ...)                                                    \
    ap_log_error(APLOG_MARK, level, rv, ap_server_conf, "apppool: " __VA_ARGS__)

#define TABLE (&CONTRACT_STORE_TABLE[sizeof CONTRACT_STORES])
#define NEW   "table.new"

typedef struct {
    uid_t uid;
    gid_t gid;
} user_t;

static json_t *number(apr_int64_t n)
{
    return json_integer((json_int_t)n);
}

/* ---- other hosts, and TCP clients ---- */

static json_t *list_of(const apr_array_header_t *addresses)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < addresses->nelts; i++)
        json_array_append_new(
            list, json_string(APR_ARRAY_IDX(addresses, i, const char *)));
    return list;
}

static json_t *listens_of(const apppool_store_cluster_t *c)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < c->listens->nelts; i++) {
        const apppool_store_listen_t *l =
            &APR_ARRAY_IDX(c->listens, i, apppool_store_listen_t);
        json_t *j = json_object();

        json_object_set_new(j, "address", json_string(l->address));
        json_object_set_new(j, "port", number(l->port));
        json_object_set_new(j, "space", json_string(l->space));
        json_array_append_new(list, j);
    }
    return list;
}

/* In hexadecimal digits, since it may have any bytes. @return -1: that was
 * logged */
static int add_secret(json_t *cluster, const apppool_server_t *server,
                      apr_pool_t *p)
{
    static const char digit[] = "0123456789abcdef";
    unsigned char secret[APPPOOL_STORE_SECRET_MAX];
    char hex[2 * APPPOOL_STORE_SECRET_MAX + 1];
    const char *why = NULL;
    int i, n = apppool_store_key_read(server, secret, p, &why);

    for (i = 0; i < n; i++) {
        hex[2 * i] = digit[secret[i] >> 4];
        hex[2 * i + 1] = digit[secret[i] & 15];
    }
    if (n > 0) {
        hex[2 * n] = 0;
        json_object_set_new(cluster, "secret", json_string(hex));
    }
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(hex, sizeof hex);
    if (n < 0)
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, ap_server_conf,
                     "apppool: AppStoreKey %s: %s", server->store_key, why);
    return n < 0 ? -1 : 0;
}

/* Add the part about them to the table. The secret is in memory of the parent
 * only while it writes the table, because its children inherit its memory.
 * @return 0, or -1: that was logged */
static int add_cluster(json_t *table, const apppool_server_t *server,
                       apr_pool_t *p)
{
    const apppool_store_cluster_t *c = apppool_store_cluster_of(p, server);
    json_t *j = json_object(), *ports = json_array();
    int i;

    for (i = 0; i < 2; i++)
        json_array_append_new(ports, number(c->port[i]));
    json_object_set_new(j, "ports", ports);
    if (c->vip)
        json_object_set_new(j, "vip", json_string(c->vip));
    json_object_set_new(j, "peers", list_of(c->peers));
    json_object_set_new(j, "plain", list_of(c->plain));
    if (server->store_open_space)
        json_object_set_new(j, "open_space",
                            json_string(server->store_open_space));
    json_object_set_new(j, "changes", number(server->store_changes));
    json_object_set_new(
        j, "slave_timeout",
        number((server->store_slave_timeout + APR_USEC_PER_SEC - 1) /
               APR_USEC_PER_SEC));
    json_object_set_new(table, "cluster", j);
    json_object_set_new(table, "listens", listens_of(c));
    return add_secret(j, server, p);
}

/* Overwrite the secret, before the table is freed. */
static void forget_secret(json_t *table)
{
    json_t *secret =
        json_object_get(json_object_get(table, "cluster"), "secret");

    if (secret)
        explicit_bzero((char *)json_string_value(secret),
                       json_string_length(secret));
}

/* ---- the whole document ---- */

static json_t *describe_space(apr_pool_t *p, const apppool_space_t *space)
{
    static const char *const confirm[] = {"off", "on", "refuse"};
    json_t *j = json_object(), *uids = json_array();
    int i;

    for (i = 0; i < space->uids->nelts; i++)
        json_array_append_new(uids,
                              number(APR_ARRAY_IDX(space->uids, i, uid_t)));
    json_object_set_new(j, "name", json_string(space->name));
    json_object_set_new(
        j, "key", json_string(apr_psprintf(p, CONTRACT_ID_FMT, space->key)));
    json_object_set_new(j, "size", number(space->size));
    json_object_set_new(j, "evict", json_boolean(space->evict));
    json_object_set_new(j, "confirm", json_string(confirm[space->confirm]));
    json_object_set_new(j, "max_connections", number(space->max_connections));
    json_object_set_new(j, "uids", uids);
    return j;
}

static json_t *describe(const apppool_server_t *server, const char *build,
                        apr_pool_t *p)
{
    const apr_array_header_t *spaces = apppool_store_spaces();
    json_t *j = json_object(), *list = json_array();
    int i;

    for (i = 0; i < spaces->nelts; i++)
        json_array_append_new(
            list,
            describe_space(p, APR_ARRAY_IDX(spaces, i, apppool_space_t *)));
    json_object_set_new(j, "contract", number(CONTRACT_VERSION));
    json_object_set_new(j, "build", json_string(build));
    json_object_set_new(j, "threads", number(server->store_threads));
    json_object_set_new(j, "max_object", number(server->store_max_object));
    json_object_set_new(j, "save_time",
                        number(apppool_config_save_time(server)));
    json_object_set_new(j, "save_every",
                        number(server->store_save_every / APR_USEC_PER_SEC));
    json_object_set_new(j, "spaces", list);
    return j;
}

/* ---- directories and the FIFO ---- */

/* A directory that only root and this user can change. */
static int give(const char *path, mode_t mode, const user_t *user)
{
    int fd, error = 0;

    if (mkdir(path, 0700) != 0)
        return errno == EEXIST ? 0 : errno;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fchmod(fd, mode) != 0 ||
        (geteuid() == 0 && fchown(fd, user->uid, user->gid) != 0))
        error = errno;
    if (fd >= 0)
        close(fd);
    return error;
}

/* The spawner makes the directory of FIFOs as well, in the same way. */
static int make_log(apr_pool_t *p, const char *runtime)
{
    const char *dir = apr_pstrcat(p, runtime, "/" CONTRACT_OUTPUT, NULL);
    const char *fifo = apr_pstrcat(p, runtime, "/" CONTRACT_STORE_LOG, NULL);

    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return errno;
    return mkfifo(fifo, 0600) == 0 || errno == EEXIST ? 0 : errno;
}

/* Where the store keeps what it holds while httpd is stopped. The store opens
 * the file before it gives up root's rights, so the directory is root's. Two
 * instances of httpd may have runtime directories with the same last name.
 * @return NULL: nowhere */
static const char *save_path(apr_pool_t *p, const apppool_server_t *server,
                             const char *base)
{
    static const char dir[] = APPPOOL_STATEDIR "/store";
    apr_status_t rv;

    if (server->store_save)
        return *server->store_save ? server->store_save : NULL;
    rv = apr_dir_make_recursive(dir,
                                APR_FPROT_UREAD | APR_FPROT_UWRITE |
                                    APR_FPROT_UEXECUTE | APR_FPROT_GREAD |
                                    APR_FPROT_GEXECUTE | APR_FPROT_WREAD |
                                    APR_FPROT_WEXECUTE,
                                p);
    if (rv == APR_SUCCESS)
        return apr_psprintf(p, "%s/" CONTRACT_ID_FMT, dir, apl_group_key(base));
    SAY(APLOG_WARNING, rv,
        "what the store holds is lost when httpd stops, because %s cannot be "
        "made: name a file with AppStoreSave, or set it to Off",
        dir);
    return NULL;
}

/* The store reads it only when it starts. */
static int link_save(apr_pool_t *p, const char *runtime, const char *save)
{
    const char *link = apr_pstrcat(p, runtime, "/" CONTRACT_STORE_SAVE, NULL);

    if (unlink(link) != 0 && errno != ENOENT)
        return errno;
    return save && symlink(save, link) != 0 ? errno : 0;
}

/* The watchdog reads it when it stops the store. */
static int link_time(apr_pool_t *p, const char *runtime,
                     const apppool_server_t *server)
{
    const char *link =
        apr_pstrcat(p, runtime, "/" CONTRACT_STORE_SAVE_TIME, NULL);

    if (unlink(link) != 0 && errno != ENOENT)
        return errno;
    return symlink(apr_psprintf(p, "%" APR_INT64_T_FMT,
                                apppool_config_save_time(server)),
                   link) != 0
               ? errno
               : 0;
}

/* ---- the file ---- */

/* The store may have put something else there. Then O_EXCL fails. */
static int write_new(int dir, const user_t *user, const char *data)
{
    size_t n = strlen(data), done = 0;
    ssize_t put = 0;
    int fd, error = 0;

    unlinkat(dir, NEW, 0);
    fd = openat(dir, NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0400);
    if (fd < 0)
        return errno;
    while (done < n && (put = write(fd, data + done, n - done)) > 0)
        done += (size_t)put;
    if (done < n || (geteuid() == 0 && fchown(fd, user->uid, user->gid) != 0))
        error = put == 0 && done < n ? EIO : errno;
    close(fd);
    return error;
}

static int replace_table(int dir, const user_t *user, const char *data)
{
    int error = data ? write_new(dir, user, data) : ENOMEM;

    if (!error && renameat(dir, NEW, dir, TABLE) != 0)
        error = errno;
    return error;
}

/* The directory keeps its owner as long as the instance lives.
 * @return descriptor; -1: errno */
static int open_directory(apr_pool_t *p, const char *runtime, user_t *user,
                          server_rec *s)
{
    const char *path = apr_pstrcat(p, runtime, "/" CONTRACT_STORES, NULL);
    struct stat st;
    int fd, error;

    apppool_store_user(s, &user->uid, &user->gid);
    error = give(path, 0711, user);
    if (error) {
        errno = error;
        return -1;
    }
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return fd;
    if (st.st_uid != user->uid || st.st_gid != user->gid)
        SAY(APLOG_WARNING, 0,
            "AppStoreUser cannot be changed by a graceful restart; the store "
            "runs as user %lu until httpd is restarted",
            (unsigned long)st.st_uid);
    user->uid = st.st_uid;
    user->gid = st.st_gid;
    return fd;
}

/* json_dumps() would leave copies in memory.
 * @return malloc; NULL: no memory */
static char *text_of(const json_t *document)
{
    size_t n = json_dumpb(document, NULL, 0, JSON_INDENT(1));
    char *data = n ? calloc(1, n + 1) : NULL;

    if (data)
        json_dumpb(document, data, n, JSON_INDENT(1));
    return data;
}

/* Nothing of it stays in memory: it may have a secret. */
static int write_document(int dir, const user_t *user,
                          const apppool_server_t *server, const char *build,
                          apr_pool_t *p)
{
    json_t *document = describe(server, build, p);
    char *data = NULL;
    int error = EINVAL;

    if (add_cluster(document, server, p) == 0) {
        data = text_of(document);
        error = replace_table(dir, user, data);
    }
    if (data)
        explicit_bzero(data, strlen(data));
    free(data);
    forget_secret(document);
    json_decref(document);
    return error;
}

/* The configured user may have the secret, but the store may still run as an
 * earlier one. @return 1: that one may have it, too */
static int may_know(const apppool_server_t *server, const user_t *user)
{
    const char *other =
        server->store_key ? apppool_store_user_other(user->uid) : NULL;

    if (other)
        SAY(APLOG_ERR, 0,
            "AppStoreKey %s: the store runs as user %lu until httpd is "
            "restarted, and so does %s, which could read the secret",
            server->store_key, (unsigned long)user->uid, other);
    return !other;
}

static int write_all(const char *runtime, const char *base, const char *build,
                     server_rec *s, apr_pool_t *p)
{
    apppool_server_t server = apppool_config_server(s);
    user_t user;
    int error, dir = open_directory(p, runtime, &user, s);

    if (dir < 0)
        return errno;
    error = may_know(&server, &user) ? make_log(p, runtime) : EPERM;
    if (!error)
        error = link_save(p, runtime, save_path(p, &server, base));
    if (!error)
        error = link_time(p, runtime, &server);
    if (!error)
        error = write_document(dir, &user, &server, build, p);
    close(dir);
    return error;
}

int apppool_store_table_write(const char *runtime, const char *base,
                              const char *build, server_rec *main_server,
                              apr_pool_t *p)
{
    int error = write_all(runtime, base, build, main_server, p);

    if (error)
        SAY(APLOG_ERR, error,
            "cannot write %s/" CONTRACT_STORE_TABLE
            ": the store does not get this configuration",
            runtime);
    return error ? -1 : 0;
}
