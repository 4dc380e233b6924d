/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/detect.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/format/format.h"
#include "spawner/shared/detect.h"
#include "spawner/shared/privilege.h"

/* Become the owner of the directory, and change into it.
 * @return 0: that failed, and `why` has the reason */
static int go(const char *dir, char why[DETECT_MAX])
{
    privilege_t who;
    struct stat st;

    if (chdir(dir) != 0 || stat(".", &st) != 0) {
        snprintf(why, DETECT_MAX, "%s", strerror(errno));
        return 0;
    }
    /* A directory of root is no danger to root. */
    return geteuid() != 0 || st.st_uid == 0 ||
           (privilege_find(&who, NULL, NULL, st.st_uid, dir, why) == 0 &&
            privilege_groups(&who, why) == 0 &&
            privilege_drop(&who, 0, why) == 0);
}

/* Replace control characters of the app: they could command root's terminal. */
static void calm(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

static const char *word_of(uint32_t protocol)
{
    return protocol == APL_FCGI ? "fcgi" : "http";
}

static void print_json(const char *dir, const detect_found_t *found)
{
    json_t *o =
        *found->file
            ? json_pack("{ss, ss, sI, ss, ss, ss}", "directory", dir,
                        "protocol", word_of(found->protocol), "concurrency",
                        (json_int_t)found->concurrency, "file", found->file,
                        "why", found->why, "command", found->command)
            : json_pack("{ss, ss}", "directory", dir, "error", found->why);
    char *text = json_dumps(o, JSON_INDENT(1));

    puts(text ? text : "{\"error\": \"something there is not UTF-8\"}");
    free(text);
    json_decref(o);
}

const char *detect_print(const char *dir, int raw)
{
    static const detect_config_t config = {APL_LISTEN_FD, APL_AUTO,
                                           APL_CONCURRENCY_AUTO, 0};
    static char error[DETECT_MAX + 512];
    static detect_found_t found;
    int good = go(dir, found.why) && detect_command(&config, &found);

    calm(found.command);
    calm(found.why);
    if (raw)
        print_json(dir, &found);
    else if (good)
        printf("%s: %s\n  AppProtocol %s\n  AppConcurrency %u\n  %s\n", dir,
               found.why, word_of(found.protocol), found.concurrency,
               found.command);
    snprintf(error, sizeof error, "%s: %s", dir, found.why);
    return good ? NULL : error;
}
