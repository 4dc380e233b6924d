/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file cgi_environment.h
 * @brief The variables that httpd has for CGI, for the protocols that send
 *        them: fcgi, scgi and uwsgi.
 *
 * httpd's own function is slow if the request already has variables: it makes a
 * second table, and sorts both to find names that occur twice. That is a tenth
 * of the instructions of a request over FastCGI. Into an empty table it writes
 * directly. So it gets an empty one, and the variables that the request had are
 * added afterwards, unless httpd has set them, too.
 *
 * PHP gets no REDIRECT_URL for a script with a PATH_INFO. All else is as with
 * php-fpm behind mod_proxy_fcgi, except PATH_TRANSLATED (cgi_variables.h).
 *
 * Trust: the values are the client's. No name occurs twice, because libraries
 *        differ in which of two values they use. The last value of a name is
 *        sent: that of "RequestHeader add" after the client's, and that of
 *        SetEnv after that of SetEnvIf. A variable of httpd replaces one of the
 *        same name that another module has set, except PATH and
 *        LD_LIBRARY_PATH.
 */
#ifndef MOD_APPPOOL_BACKEND_CGI_ENVIRONMENT_H
#define MOD_APPPOOL_BACKEND_CGI_ENVIRONMENT_H

#include <httpd.h>

/** Add httpd's variables to r->subprocess_env, which may become another
 * table. */
void apppool_cgi_environment_add(request_rec *r);

#endif
