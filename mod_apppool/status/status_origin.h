/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_origin.h
 * @brief Does the configuration of the server say that a request gets the
 *        status? .htaccess may not say it, because it belongs to one tenant,
 *        and the status shows all tenants.
 *
 * There are many ways to a handler: SetHandler, AddHandler, ForceType, a rewrite
 * rule, each of them in <Files> or <If>, and the index of a directory. So this
 * looks the URL of the request up again, as if there was no .htaccess. The
 * request gets the status only if that gives the same handler, and if the rules
 * of access allow it.
 *
 * Trust: .htaccess may say anything. It is not read for the look-up.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_ORIGIN_H
#define MOD_APPPOOL_STATUS_STATUS_ORIGIN_H

#include <httpd.h>
#include <http_config.h>

/** Would this request get its handler without .htaccess? To be called by the
 * handler. If not, the log says so.
 * @return OK or HTTP_FORBIDDEN */
int apppool_status_origin_check(request_rec *r);

/** A hook of httpd: in a look-up, there is no .htaccess. */
apr_status_t apppool_status_origin_open_htaccess(request_rec *r,
                                                 const char *directory,
                                                 const char *name,
                                                 ap_configfile_t **file,
                                                 const char **path);

#endif
