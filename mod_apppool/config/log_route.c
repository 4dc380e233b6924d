/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/log_route.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* @return the descriptor, or -1 */
static int look(apr_file_t *log, struct stat *st)
{
    apr_os_file_t fd;

    return log && apr_os_file_get(&fd, log) == APR_SUCCESS && fstat(fd, st) == 0
               ? fd
               : -1;
}

/* @return NULL: the server has no error log of its own that can be written. One
 * file may have two names, such as /dev/stderr and /proc/self/fd/2 in a
 * container. */
static const char *error_log(apr_pool_t *p, const server_rec *s,
                             const server_rec *main_server)
{
    struct stat st, main_st;
    int fd;

    if (!s->error_fname || s == main_server)
        return NULL;
    if (!strncasecmp(s->error_fname, "syslog", 6))
        return apr_pstrcat(p, "=", s->error_fname, NULL);
    fd = look(s->error_log, &st);
    if (fd < 0 || (look(main_server->error_log, &main_st) >= 0 &&
                   st.st_dev == main_st.st_dev && st.st_ino == main_st.st_ino))
        return NULL;
    return apr_psprintf(
        p, "=/proc/%d/fd/%d %" APR_UINT64_T_FMT ":%" APR_UINT64_T_FMT,
        (int)getpid(), fd, (apr_uint64_t)st.st_dev, (apr_uint64_t)st.st_ino);
}

const char *apppool_log_route(apr_pool_t *p, const apppool_app_t *app,
                              const server_rec *main_server)
{
    return app->set->log ? app->set->log
                         : error_log(p, app->server, main_server);
}
