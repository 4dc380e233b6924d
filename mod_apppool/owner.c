/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/owner.h"

#include <apr_strings.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

/* "#33" -> 33; -1: it is no number. */
static long number_of(const char *name)
{
    char *end;
    long n;

    if (*name != '#' || !name[1])
        return -1;
    n = strtol(name + 1, &end, 10);
    return *end || n < 0 ? -1 : n;
}

static const struct passwd *find_user(const char *name)
{
    long n = number_of(name);

    return n >= 0 ? getpwuid((uid_t)n) : getpwnam(name);
}

static const struct group *find_group(const char *name)
{
    long n = number_of(name);

    return n >= 0 ? getgrgid((gid_t)n) : getgrnam(name);
}

static const char *me(apr_pool_t *p)
{
    const struct passwd *pw = getpwuid(geteuid());

    return pw ? apr_pstrdup(p, pw->pw_name)
              : apr_psprintf(p, "#%u", (unsigned)geteuid());
}

const char *apppool_owner_check(apr_pool_t *p, const char *user,
                                const char *group, const char **user_name,
                                const char **group_name)
{
    const struct passwd *pw = find_user(user);
    const struct group *gr = NULL;

    if (!pw)
        return apr_psprintf(p, "AppUser: there is no user \"%s\"", user);
    if (pw->pw_uid == 0)
        return apr_psprintf(p,
                            "AppUser: \"%s\" is root, and no application "
                            "runs as root",
                            user);
    if (geteuid() != 0 && pw->pw_uid != geteuid())
        return apr_psprintf(p,
                            "AppUser: \"%s\" is not possible: httpd was not "
                            "started as root, so applications run as \"%s\"",
                            user, me(p));
    *user_name = apr_pstrdup(p, pw->pw_name);
    *group_name = NULL;
    if (!group)
        return NULL;
    gr = find_group(group);
    if (!gr)
        return apr_psprintf(p, "AppUser: there is no group \"%s\"", group);
    if (gr->gr_gid == 0)
        return apr_psprintf(p,
                            "AppUser: group \"%s\" is root's, and no "
                            "application runs as root",
                            group);
    if (geteuid() != 0 && gr->gr_gid != getegid())
        return apr_psprintf(p,
                            "AppUser: group \"%s\" is not possible: httpd "
                            "was not started as root",
                            group);
    *group_name = apr_pstrdup(p, gr->gr_name);
    return NULL;
}

const char *apppool_owner_default(apr_pool_t *p, const char *root,
                                  const struct stat *st)
{
    if (geteuid() != 0)
        return NULL;
    if (st->st_uid == 0)
        return apr_psprintf(p,
                            "%s belongs to root, and no application runs as "
                            "root: say who shall run it with AppUser, or give "
                            "the directory to that user",
                            root);
    if (!getpwuid(st->st_uid))
        return apr_psprintf(p,
                            "%s belongs to user %u, who does not exist: say "
                            "who shall run the application with AppUser",
                            root, (unsigned)st->st_uid);
    return NULL;
}

uid_t apppool_owner_uid(const char *user, const struct stat *st)
{
    const struct passwd *pw;

    if (geteuid() != 0)
        return geteuid();
    if (!user)
        return st->st_uid;
    pw = getpwnam(user);
    return pw ? pw->pw_uid : (uid_t)-1;
}

int apppool_owner_may_enter(const char *user, const struct stat *st)
{
    const struct passwd *pw = user ? getpwnam(user) : getpwuid(st->st_uid);
    mode_t bit = S_IXOTH;

    if (!pw || pw->pw_gid == 0)
        return 1;
    if (pw->pw_uid == st->st_uid)
        bit = S_IXUSR;
    else if (pw->pw_gid == st->st_gid)
        bit = S_IXGRP;
    else if (st->st_mode & S_IXGRP)
        return 1;
    return (st->st_mode & bit) != 0;
}
