/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "base/privilege.h"

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

#include "base/userdb.h"

#define SAY(error, ...) snprintf(error, PRIVILEGE_ERROR_MAX, __VA_ARGS__)

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static int lookup_failed(const char *what, const char *name, char *error)
{
    SAY(error, USERDB_LOOKUP_FAILED "; a later start may succeed", what, name,
        strerror(errno));
    return -1;
}

static void fill_in(privilege_t *account, const struct passwd *pw)
{
    account->uid = pw->pw_uid;
    account->gid = pw->pw_gid;
    account->known = 1;
    copy(account->name, sizeof account->name, pw->pw_name);
    copy(account->home, sizeof account->home, pw->pw_dir);
    copy(account->shell, sizeof account->shell,
         pw->pw_shell[0] ? pw->pw_shell : "/bin/sh");
}

/* @return 1: it has an entry; 0: it has none; -1: an error */
static int find_number(privilege_t *account, uid_t uid, char *error)
{
    const struct passwd *pw;

    account->uid = uid;
    account->gid = 0;
    snprintf(account->name, sizeof account->name, "%lu", (unsigned long)uid);
    copy(account->home, sizeof account->home, "/");
    copy(account->shell, sizeof account->shell, "/bin/sh");
    errno = 0;
    pw = getpwuid(uid);
    if (pw)
        fill_in(account, pw);
    else if (!userdb_missing(errno))
        return lookup_failed("user", account->name, error);
    return pw != NULL;
}

static int find_name(privilege_t *account, const char *user, char *error)
{
    const struct passwd *pw;

    errno = 0;
    pw = getpwnam(user);
    if (pw) {
        fill_in(account, pw);
        return 0;
    }
    if (!userdb_missing(errno))
        return lookup_failed("user", user, error);
    SAY(error, "AppUser: " USERDB_NO_SUCH, "user", user);
    return -1;
}

/* Find the user and the group of AppUser. */
static int find_user(privilege_t *account, const char *user, const char *group,
                     char *error)
{
    uint32_t n;
    int rv;

    if (!userdb_number(user, &n))
        return find_name(account, user, error);
    rv = find_number(account, n, error);
    if (rv != 0 || group)
        return rv < 0 ? -1 : 0;
    SAY(error, "AppUser: " USERDB_NO_GROUP, user, user);
    return -1;
}

/* A directory that is missing, or no directory, has no owner that could run an
 * app. */
static int is_directory(const char *root, char *error)
{
    struct stat st;

    if (stat(root, &st) != 0)
        SAY(error, "AppRoot %s cannot be used: %s", root, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        SAY(error, "AppRoot %s is not a directory", root);
    else
        return 1;
    return 0;
}

static int find_owner(privilege_t *account, uid_t owner, const char *root,
                      char *error)
{
    int rv;

    if ((owner == USERDB_NOBODY || owner == 0) && !is_directory(root, error))
        return -1;
    if (owner == USERDB_NOBODY) {
        SAY(error,
            "when httpd read its configuration, AppRoot %s had no owner that "
            "could run the app, and others than its owner could have changed "
            "that: reload httpd (apachectl graceful), or set "
            "AppUser",
            root);
        return -1;
    }
    rv = find_number(account, owner, error);
    if (rv == 0)
        SAY(error, "AppRoot " USERDB_NO_OWNER, root, owner, owner);
    return rv > 0 ? 0 : -1;
}

/* Without root's rights all apps run as the user that httpd runs as. */
static int find_self(privilege_t *account, char *error)
{
    int rv = find_number(account, geteuid(), error);

    account->gid = getegid();
    return rv < 0 ? -1 : 0;
}

static int find_group(privilege_t *account, const char *group, char *error)
{
    const struct group *gr;
    uint32_t n;

    if (!group)
        return 0;
    if (userdb_number(group, &n)) {
        account->gid = n;
        return 0;
    }
    errno = 0;
    gr = getgrnam(group);
    if (!gr && !userdb_missing(errno))
        return lookup_failed("group", group, error);
    if (!gr) {
        SAY(error, "AppUser: " USERDB_NO_SUCH, "group", group);
        return -1;
    }
    account->gid = gr->gr_gid;
    return 0;
}

static int refuse_root(const privilege_t *account, const char *group,
                       const char *root, char *error)
{
    if (account->uid == 0)
        SAY(error,
            "user %s, which is to run the app of AppRoot %s, is root, and no "
            "application runs as root: set AppUser, or give the directory to "
            "the user that is to run it",
            account->name, root);
    else if (account->gid == 0 && group)
        SAY(error, "AppUser: " USERDB_GROUP_IS_ROOTS, group);
    else if (account->gid == 0)
        SAY(error, USERDB_ROOTS_GROUP, account->name, account->known ? "" : "#",
            account->name);
    return account->uid == 0 || account->gid == 0 ? -1 : 0;
}

int privilege_find(privilege_t *account, const char *user, const char *group,
                   uid_t owner, const char *root,
                   char error[PRIVILEGE_ERROR_MAX])
{
    int rv;

    memset(account, 0, sizeof *account);
    if (user)
        rv = find_user(account, user, group, error);
    else if (geteuid() != 0)
        rv = find_self(account, error);
    else
        rv = find_owner(account, owner, root, error);
    if (rv != 0 || find_group(account, group, error) != 0)
        return -1;
    if (geteuid() == 0)
        return refuse_root(account, group, root, error);
    if (account->uid == geteuid() && account->gid == getegid())
        return 0;
    SAY(error, "only root can run an app as user %s", account->name);
    return -1;
}

/* All groups of the user except root's: what files allow that group is meant
 * for administrators. */
static int take_groups(const privilege_t *account)
{
    gid_t *list = NULL, *more;
    int n = 32, room, i, kept = 0, rv;

    do {
        room = n;
        more = realloc(list, (size_t)room * sizeof *list);
        if (!more)
            break;
        list = more;
        rv = getgrouplist(account->name, account->gid, list, &n);
    } while (rv < 0 && n > room);
    for (i = 0; more && i < n && i < room; i++)
        if (list[i] != 0)
            list[kept++] = list[i];
    rv = more ? setgroups((size_t)kept, list) : -1;
    free(list);
    return rv;
}

int privilege_groups(const privilege_t *account,
                     char error[PRIVILEGE_ERROR_MAX])
{
    /* If the user is not known, `name` is a number, which may be the name of
     * another user. So then only the group is taken. */
    if (geteuid() != 0 || (account->known ? take_groups(account)
                                          : setgroups(1, &account->gid)) == 0)
        return 0;
    SAY(error, "the groups of user %s cannot be set: %s", account->name,
        strerror(errno));
    return -1;
}

int privilege_drop(const privilege_t *account, int may_gain,
                   char error[PRIVILEGE_ERROR_MAX])
{
    if (geteuid() == 0 &&
        (setresgid(account->gid, account->gid, account->gid) != 0 ||
         setresuid(account->uid, account->uid, account->uid) != 0 ||
         setuid(0) == 0)) {
        SAY(error, "cannot become user %s: %s", account->name, strerror(errno));
        return -1;
    }
    if (!may_gain && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        SAY(error, "no_new_privs cannot be set: %s", strerror(errno));
        return -1;
    }
    return 0;
}
