/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app_user.h"

#include <apr_strings.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/userdb.h"

/* The entry that was found last. A look-up reads a file, or asks a server. An
 * application needs several, and thousands of them may have one user. */
static char last_name[256];
static struct passwd last = {.pw_name = last_name}; /* "": none */

void apppool_app_user_begin(void)
{
    last_name[0] = 0;
}

static const struct passwd *keep(const struct passwd *pw)
{
    if (!pw || strlen(pw->pw_name) >= sizeof last_name)
        return pw;
    apr_cpystrn(last_name, pw->pw_name, sizeof last_name);
    last.pw_uid = pw->pw_uid;
    last.pw_gid = pw->pw_gid;
    return &last;
}

static const struct passwd *user_of(uid_t uid)
{
    return *last_name && last.pw_uid == uid ? &last : keep(getpwuid(uid));
}

static const struct passwd *user_named(const char *name)
{
    return *name && !strcmp(last_name, name) ? &last : keep(getpwnam(name));
}

static const struct passwd *find_user(const char *name)
{
    uint32_t n;

    errno = 0;
    return userdb_number(name, &n) ? user_of(n) : user_named(name);
}

const char *apppool_app_user_name(apr_pool_t *p, uid_t uid)
{
    const struct passwd *pw = user_of(uid);

    return pw ? apr_pstrdup(p, pw->pw_name)
              : apr_psprintf(p, "#%lu", (unsigned long)uid);
}

static const struct group *find_group(const char *name)
{
    uint32_t n;

    errno = 0;
    return userdb_number(name, &n) ? getgrgid(n) : getgrnam(name);
}

/* Why was it not found? See getpwnam(3). @param error errno after the search */
static const char *missing(apr_pool_t *p, const char *what, const char *name,
                           int error)
{
    if (userdb_missing(error))
        return apr_psprintf(p, "AppUser: " USERDB_NO_SUCH, what, name);
    return apr_psprintf(p, "AppUser: " USERDB_LOOKUP_FAILED, what, name,
                        strerror(error));
}

static const char *me(apr_pool_t *p)
{
    return apppool_app_user_name(p, geteuid());
}

static const char *check_user(apr_pool_t *p, const char *user,
                              const char *group, const char **name)
{
    const struct passwd *pw = find_user(user);
    int error = errno;
    uint32_t uid;

    if (pw)
        uid = pw->pw_uid;
    else if (!userdb_number(user, &uid))
        return missing(p, "user", user, error);
    else if (!group)
        return apr_psprintf(p, "AppUser: " USERDB_NO_GROUP, user, user);
    if (uid == 0)
        return apr_psprintf(p,
                            "AppUser: \"%s\" is root, and no application "
                            "runs as root",
                            user);
    if (geteuid() == 0 && pw && !group && pw->pw_gid == 0)
        return apr_psprintf(p, "AppUser: " USERDB_ROOTS_GROUP, user, "", user);
    *name = apr_pstrdup(p, pw ? pw->pw_name : user);
    if (geteuid() == 0 || uid == geteuid())
        return NULL;
    return apr_psprintf(p,
                        "AppUser: \"%s\" is not possible: httpd was not "
                        "started as root, so applications run as \"%s\"",
                        user, me(p));
}

static const char *check_group(apr_pool_t *p, const char *group,
                               const char **name)
{
    const struct group *gr = find_group(group);
    int error = errno;
    uint32_t gid;

    if (gr)
        gid = gr->gr_gid;
    else if (!userdb_number(group, &gid))
        return missing(p, "group", group, error);
    if (gid == 0)
        return apr_psprintf(p, "AppUser: " USERDB_GROUP_IS_ROOTS, group);
    if (geteuid() != 0 && gid != getegid())
        return apr_psprintf(p,
                            "AppUser: group \"%s\" is not possible: httpd "
                            "was not started as root",
                            group);
    *name = apr_pstrdup(p, gr ? gr->gr_name : group);
    return NULL;
}

const char *apppool_app_user_check(apr_pool_t *p, const char *user,
                                   const char *group, const char **user_name,
                                   const char **group_name)
{
    const char *wrong = check_user(p, user, group, user_name);

    *group_name = NULL;
    return wrong || !group ? wrong : check_group(p, group, group_name);
}

const char *apppool_app_user_check_owner(apr_pool_t *p, const char *root,
                                         const struct stat *st)
{
    const struct passwd *pw;

    if (geteuid() != 0)
        return NULL;
    if (st->st_uid == 0)
        return apr_psprintf(p,
                            "%s belongs to root, and no application runs as "
                            "root: name another user with AppUser, or give "
                            "the directory to that user",
                            root);
    pw = user_of(st->st_uid);
    if (!pw)
        return apr_psprintf(p, USERDB_NO_OWNER, root, st->st_uid, st->st_uid);
    if (pw->pw_gid == 0)
        return apr_psprintf(p, "%s: " USERDB_ROOTS_GROUP, root, pw->pw_name, "",
                            pw->pw_name);
    return NULL;
}

uid_t apppool_app_user_uid(const char *user, const struct stat *st)
{
    const struct passwd *pw;
    uint32_t n;

    if (geteuid() != 0)
        return geteuid();
    if (!user)
        return st->st_uid;
    if (userdb_number(user, &n))
        return n;
    pw = user_named(user);
    return pw ? pw->pw_uid : USERDB_NOBODY;
}

int apppool_app_user_may_enter(const char *user, const struct stat *st)
{
    const struct passwd *pw = user ? find_user(user) : user_of(st->st_uid);
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
