/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/detect_languages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect_text.h"
#include "detect/package_script.h"

static int keep(detect_found_t *found, const char *command)
{
    return snprintf(found->command, DETECT_MAX, "%s", command) < DETECT_MAX;
}

/* A script of package.json in place of a command, which is freed.
 * @return 0: there is none */
static int keep_script(detect_found_t *found, char *script)
{
    found->runs_node = script && keep(found, script);
    if (!found->runs_node)
        memset(&found->package, 0, sizeof found->package);
    free(script);
    return found->runs_node; /* whatever its first word is called */
}

int detect_file_procfile(detect_found_t *found)
{
    char *text = detect_text_read(AT_FDCWD, found->file), *line, *rest = NULL;
    int good = 0;

    for (line = text ? strtok_r(text, "\r\n", &rest) : NULL; line && !good;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (strncmp(line, "web:", 4) != 0)
            continue;
        line += 4;
        line += strspn(line, " \t");
        good = *line != 0 &&
               (keep_script(found, package_script_of(line, &found->package)) ||
                keep(found, line));
    }
    free(text);
    snprintf(found->why, DETECT_MAX, "%s has a web: line%s%s%s", found->file,
             found->runs_node ? ": the " : "", found->package.event,
             found->runs_node ? " script of package.json" : "");
    return good;
}

int detect_file_package(detect_found_t *found)
{
    snprintf(found->why, DETECT_MAX, "%s has a start script", found->file);
    return keep_script(found, package_script_start(&found->package));
}

/* ---- a Procfile of PHP ---- */

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
