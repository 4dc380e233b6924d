/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_php.h"

#include <stdio.h>

const char *const detect_php_dirs[] = {
    "public", "",    "web",         "htdocs",   "webroot", "docroot",
    "pub",    "www", "public_html", "httpdocs", "Web",     NULL};

int detect_php_is_procfile(int dir, const char *file, char why[DETECT_WHY])
{
    (void)why;
    return detect_text_has(dir, file,
                           "^[[:blank:]]*web:.*heroku-php-(apache2|nginx)");
}

int detect_php_procfile(detect_found_t *found)
{
    snprintf(found->why, DETECT_MAX,
             "%s has a web: line of Heroku's server for PHP", found->file);
    return 1;
}
