/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/route.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL: it has no error log of its own that could be written to. */
static const char *error_log(apr_pool_t *p, const server_rec *s,
                             const server_rec *main_server)
{
    apr_os_file_t fd;
    struct stat st;

    if (!s->error_fname || s == main_server)
        return NULL;
    if (!strncasecmp(s->error_fname, "syslog", 6))
        return apr_pstrcat(p, "=", s->error_fname, NULL);
    if (!s->error_log || s->error_log == main_server->error_log ||
        apr_os_file_get(&fd, s->error_log) != APR_SUCCESS ||
        fstat(fd, &st) != 0)
        return NULL;
    return apr_psprintf(
        p, "=/proc/%d/fd/%d %" APR_UINT64_T_FMT ":%" APR_UINT64_T_FMT,
        (int)getpid(), fd, (apr_uint64_t)st.st_dev, (apr_uint64_t)st.st_ino);
}

const char *apppool_route(apr_pool_t *p, const apppool_app_t *app,
                          const server_rec *main_server)
{
    return app->set->log ? app->set->log
                         : error_log(p, app->server, main_server);
}
