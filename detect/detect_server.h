/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_server.h
 * @brief How each application server is run: puma, uvicorn, php-cgi and
 *        others. For WSGI this is our own loader (helpers/python), or gunicorn
 *        for several requests at once.
 *
 * It looks for the server in the current directory, with the rights of the
 * app's user.
 */
#ifndef APPPOOL_DETECT_DETECT_SERVER_H
#define APPPOOL_DETECT_DETECT_SERVER_H

#include "detect/detect_found.h"

typedef struct detect_server detect_server_t;

extern const detect_server_t detect_server_puma, detect_server_wsgi,
    detect_server_uvicorn, detect_server_listen, detect_server_php,
    detect_server_psgi, detect_server_mojo, detect_server_unicorn,
    detect_server_thin, detect_server_falcon;

/**
 * Write found->command: it runs `server` for found->concurrency requests at
 * once, on a socket that it gets as config->listen says. A server in the app's
 * own directory is preferred to the one of PATH, and found->why says so. If
 * there is a template for the server, found->has_template is set, and with
 * config->is_template the command is that of the template. So it is with
 * config->says_ready: the servers themselves do not say READY=1 when they are
 * ready. If there is no template, either, found->is_silent is set.
 * @param application last argument; NULL: what found->command has
 *        If the server cannot listen in this way, found->command is empty, and
 *        found->why says so
 */
void detect_server_command(detect_found_t *found, const detect_server_t *server,
                           const char *application,
                           const detect_config_t *config);

#endif
