/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/store_key.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <http_config.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod_apppool/config/value.h"
#include "base/secret.h"

/* @return NULL: nobody but root, or the user of httpd, can use it */
static const char *refusal(const struct stat *st, apr_pool_t *p)
{
    if (!S_ISREG(st->st_mode))
        return "is not a regular file";
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return apr_psprintf(p, "belongs to user %lu, and has to be root's",
                            (unsigned long)st->st_uid);
    if (st->st_mode & (S_IRWXG | S_IRWXO))
        return apr_psprintf(p,
                            "has mode %o, so that others than its owner can "
                            "use it: chmod 600",
                            (unsigned)(st->st_mode & 0777));
    return NULL;
}

/* Newlines at the end do not count: an editor may have added one.
 * @return bytes */
static ssize_t read_secret(int fd, unsigned char *to)
{
    unsigned char more[2 + APPPOOL_STORE_SECRET_MAX];
    ssize_t n = read(fd, more, sizeof more);

    while (n > 0 && (more[n - 1] == '\n' || more[n - 1] == '\r'))
        n--;
    if (n > 0 && n <= APPPOOL_STORE_SECRET_MAX)
        memcpy(to, more, (size_t)n);
    explicit_bzero(more, sizeof more);
    return n;
}

int apppool_store_key_read(const apppool_server_t *server,
                           unsigned char to[APPPOOL_STORE_SECRET_MAX],
                           apr_pool_t *p, const char **why)
{
    struct stat st;
    ssize_t n = -1;
    int fd;

    if (!server->store_key)
        return 0;
    fd = open(server->store_key, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *why = fd < 0 || fstat(fd, &st) != 0 ? strerror(errno) : refusal(&st, p);
    if (!*why) {
        n = read_secret(fd, to);
        if (n < 0)
            *why = strerror(errno);
        else if (n < APPPOOL_STORE_SECRET_MIN || n > APPPOOL_STORE_SECRET_MAX)
            *why = apr_psprintf(p,
                                "has not %d to %d bytes (without newlines at "
                                "its end)",
                                APPPOOL_STORE_SECRET_MIN,
                                APPPOOL_STORE_SECRET_MAX);
    }
    if (fd >= 0)
        close(fd);
    return *why ? -1 : (int)n;
}

const char *apppool_store_key_set(cmd_parms *cmd, void *dir, const char *arg)
{
    unsigned char secret[APPPOOL_STORE_SECRET_MAX];
    const char *wrong, *why = NULL;
    apppool_server_t *server =
        ap_get_module_config(cmd->server->module_config, &apppool_module);

    wrong = apppool_value_path(cmd, dir, arg);
    if (wrong)
        return wrong;
    if (!secret_is_supported())
        why = "cannot be used, because mod_apppool was built without OpenSSL";
    else
        apppool_store_key_read(server, secret, cmd->temp_pool, &why);
    explicit_bzero(secret, sizeof secret);
    return why ? apr_psprintf(cmd->pool, "%s: \"%s\": %s", cmd->cmd->name, arg,
                              why)
               : NULL;
}

const char *apppool_store_key_password(const char *space, apr_pool_t *p,
                                       const server_rec *main_server)
{
    const apppool_server_t *server =
        ap_get_module_config(main_server->module_config, &apppool_module);
    unsigned char secret[APPPOOL_STORE_SECRET_MAX];
    char *password = apr_palloc(p, STORE_PASSWORD);
    const char *why = NULL;
    int rv, n;

    n = apppool_store_key_read(server, secret, p, &why);
    rv = n > 0 ? secret_password(secret, (size_t)n, space, password) : -1;
    explicit_bzero(secret, sizeof secret);
    return rv == 0 ? password : NULL;
}
