/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/privilege.h"

#define LIMIT 5 /* s, for the child */

/* What the child reports. */
enum { MAY, CANNOT_SAY };

/* @return 0, or errno */
static int try_enter(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return errno;
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* The first directory of the path that cannot be entered.
 * @param path is cut there @return 0: all can be entered; or errno */
static int barrier(char *path)
{
    char *slash;
    int error = try_enter(path);

    if (!error)
        return 0;
    for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        int first;

        *slash = 0;
        first = try_enter(path);
        if (first)
            return first;
        *slash = '/';
    }
    return error;
}

static void look(const char *user, const char *root, FILE *out)
{
    char path[4096];
    int error;

    snprintf(path, sizeof path, "%s", root);
    error = barrier(path);
    if (error == EACCES)
        fprintf(out, "the user %s may not enter %s", user, path);
    else if (error)
        fprintf(out, "AppRoot %s cannot be used: %s", root, strerror(error));
}

/* Become the user. It may be a name or a number. */
static int become(const char *user, const char *group)
{
    char why[PRIVILEGE_ERROR_MAX];
    privilege_t account;

    return privilege_find(&account, user, group, USERDB_NOBODY, "", why) == 0 &&
           privilege_groups(&account, why) == 0 &&
           privilege_drop(&account, 0, why) == 0;
}

static int is_me(const char *user)
{
    const struct passwd *pw = getpwuid(geteuid());

    return pw && strcmp(pw->pw_name, user) == 0;
}

/* In the child. */
static void report(const char *user, const char *group, const char *root,
                   int fd)
{
    FILE *out = fdopen(fd, "w");
    int lost;

    if (!out || (geteuid() == 0 ? !become(user, group) : !is_me(user)))
        _exit(CANNOT_SAY);
    look(user, root, out);
    lost = fclose(out);
    _exit(lost ? CANNOT_SAY : MAY);
}

/* Read what the child reports. @return 0: it does not respond */
static int hear(int fd, char to[PERMISSION_MAX])
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t n = 0;
    ssize_t more = 1;
    int ready = 1;

    while (more > 0 && n + 1 < PERMISSION_MAX &&
           (ready = poll(&p, 1, LIMIT * 1000)) > 0) {
        more = read(fd, to + n, PERMISSION_MAX - 1 - n);
        n += more > 0 ? (size_t)more : 0;
    }
    to[n] = 0;
    return ready != 0;
}

/* The child may wait in the kernel, so that not even SIGKILL ends it. */
static int give_up(pid_t child, const char *user, const char *root,
                   char to[PERMISSION_MAX])
{
    kill(child, SIGKILL);
    snprintf(to, PERMISSION_MAX,
             "the user %s has not entered AppRoot %s within %d s: its file "
             "system, or the user database, does not respond",
             user, root, LIMIT);
    return PERMISSION_SILENT;
}

int permission_wrong(const json_t *app, char to[PERMISSION_MAX])
{
    const char *user = json_string_value(json_object_get(app, "user"));
    const char *group = json_string_value(json_object_get(app, "group"));
    const char *root = json_string_value(json_object_get(app, "app_root"));
    int ends[2], status, heard;
    pid_t child;

    to[0] = 0;
    if (!user || !root || pipe(ends) != 0)
        return 0;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        report(user, group, root, ends[1]);
    }
    close(ends[1]);
    heard = hear(ends[0], to);
    close(ends[0]);
    if (child > 0 && !heard)
        return give_up(child, user, root, to);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 0;
    return to[0] != 0;
}

const char *permission_advice(const char *wrong, char to[ADVICE_MAX])
{
    static const char begin[] = "the user ", middle[] = " may not enter ";
    const char *at = strstr(wrong, middle);

    if (strstr(wrong, " does not respond"))
        return "look at that file system, such as one of a file server";
    if (strncmp(wrong, begin, strlen(begin)) != 0 || !at)
        return "deploy the application there, or correct AppRoot";
    wrong += strlen(begin);
    snprintf(to, ADVICE_MAX, "allow it, for example by setfacl -m u:%.*s:x %s",
             (int)(at - wrong), wrong, at + strlen(middle));
    return to;
}
