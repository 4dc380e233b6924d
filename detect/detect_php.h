/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_php.h
 * @brief A Procfile of PHP names a web server of Heroku's, which runs PHP:
 *        `web: vendor/bin/heroku-php-apache2 public/`. Here httpd is the web
 *        server, so the line means PHP, and the directory of its files.
 */
#ifndef APPPOOL_DETECT_DETECT_PHP_H
#define APPPOOL_DETECT_DETECT_PHP_H

#include "detect/detect_file.h"
#include "detect/detect_text.h"

detect_test_t detect_php_is_procfile;
detect_file_t detect_php_procfile;

/** The directories of AppRoot where index.php may be, the first first; "" is
 * AppRoot. The last is NULL. */
extern const char *const detect_php_dirs[];

#endif
