/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAY(error, ...) snprintf(error, PRIVILEGE_ERROR_MAX, __VA_ARGS__)

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

/* "#33" is number 33. */
static int is_number(const char *name, unsigned long *number)
{
    char *end;

    if (name[0] != '#')
        return 0;
    *number = strtoul(name + 1, &end, 10);
    return end != name + 1 && *end == 0 && *number < UINT32_MAX;
}

static int find_user(privilege_t *who, const char *user, const char *root,
                     char error[PRIVILEGE_ERROR_MAX])
{
    const struct passwd *pw;
    struct stat st;
    unsigned long n;

    if (!user) {
        if (stat(root, &st) != 0) {
            SAY(error, "AppRoot %s cannot be looked at: %s", root,
                strerror(errno));
            return -1;
        }
        pw = getpwuid(st.st_uid);
        who->uid = st.st_uid;
    }
    else if (is_number(user, &n)) {
        pw = getpwuid((uid_t)n);
        who->uid = (uid_t)n;
    }
    else {
        pw = getpwnam(user);
        if (!pw) {
            SAY(error, "AppUser %s is no user of this system", user);
            return -1;
        }
        who->uid = pw->pw_uid;
    }
    /* A user without entry: only numbers are known. */
    who->gid = pw ? pw->pw_gid : (gid_t)who->uid;
    who->known = pw != NULL;
    snprintf(who->name, sizeof who->name, "%ld", (long)who->uid);
    if (pw)
        copy(who->name, sizeof who->name, pw->pw_name);
    copy(who->home, sizeof who->home, pw ? pw->pw_dir : "/");
    copy(who->shell, sizeof who->shell,
         pw && pw->pw_shell[0] ? pw->pw_shell : "/bin/sh");
    return 0;
}

static int find_group(privilege_t *who, const char *group, char *error)
{
    const struct group *gr;
    unsigned long n;

    if (!group)
        return 0;
    if (is_number(group, &n)) {
        who->gid = (gid_t)n;
        return 0;
    }
    gr = getgrnam(group);
    if (!gr) {
        SAY(error, "group %s of AppUser is no group of this system", group);
        return -1;
    }
    who->gid = gr->gr_gid;
    return 0;
}

int privilege_find(privilege_t *who, const char *user, const char *group,
                   const char *root, char error[PRIVILEGE_ERROR_MAX])
{
    memset(who, 0, sizeof *who);
    if (find_user(who, user, root, error) != 0 ||
        find_group(who, group, error) != 0)
        return -1;
    if (geteuid() == 0) {
        if (who->uid != 0)
            return 0;
        if (user)
            SAY(error, "AppUser is root; an app never runs as root");
        else
            SAY(error,
                "AppRoot %s belongs to root and an app never runs as root: "
                "set AppUser",
                root);
        return -1;
    }
    if (!user) {
        /* Without root's rights all apps run as whom httpd runs. */
        const struct passwd *pw = getpwuid(geteuid());

        if (!pw || find_user(who, pw->pw_name, root, error) != 0) {
            who->uid = geteuid();
            snprintf(who->name, sizeof who->name, "%ld", (long)who->uid);
        }
        if (!group)
            who->gid = getegid();
    }
    if (who->uid == geteuid() && who->gid == getegid())
        return 0;
    SAY(error, "only root can run an app as user %s", who->name);
    return -1;
}

int privilege_groups(const privilege_t *who, char error[PRIVILEGE_ERROR_MAX])
{
    /* A number may be somebody else's name. */
    if (geteuid() != 0 || (who->known ? initgroups(who->name, who->gid)
                                      : setgroups(1, &who->gid)) == 0)
        return 0;
    SAY(error, "the groups of user %s cannot be set: %s", who->name,
        strerror(errno));
    return -1;
}

int privilege_drop(const privilege_t *who, char error[PRIVILEGE_ERROR_MAX])
{
    if (geteuid() == 0 &&
        (setresgid(who->gid, who->gid, who->gid) != 0 ||
         setresuid(who->uid, who->uid, who->uid) != 0 || setuid(0) == 0)) {
        SAY(error, "cannot become user %s: %s", who->name, strerror(errno));
        return -1;
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return 0;
}
