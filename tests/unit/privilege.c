/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The user as which an app runs, with user databases that have gaps and that
 * fail. The linker wraps their functions. */

#include "base/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

static int failure; /* of the databases: errno, 0: they respond */
static uid_t me;
static gid_t taken[8];
static size_t n_taken;
static int forbidden; /* prctl() is */
static uid_t is[3];   /* the process's: real, effective, saved */
static gid_t of[3];
static int stubborn; /* it keeps root in any case */

static struct passwd users[] = {{.pw_name = "shop",
                                 .pw_uid = 1001,
                                 .pw_gid = 1002,
                                 .pw_dir = "/srv",
                                 .pw_shell = ""},
                                {.pw_name = "rooty",
                                 .pw_uid = 1003,
                                 .pw_gid = 0,
                                 .pw_dir = "/srv",
                                 .pw_shell = ""}};
static struct group shops = {.gr_name = "shops", .gr_gid = 1004};

struct passwd *__wrap_getpwuid(uid_t uid);
struct passwd *__wrap_getpwnam(const char *name);
struct group *__wrap_getgrnam(const char *name);
int __wrap_getgrouplist(const char *user, gid_t gid, gid_t *list, int *n);
int __wrap_setgroups(size_t n, const gid_t *list);
int __wrap_setresgid(gid_t r, gid_t e, gid_t s);
int __wrap_setresuid(uid_t r, uid_t e, uid_t s);
int __wrap_setuid(uid_t uid);
int __wrap_prctl(int what, ...);
uid_t __wrap_geteuid(void);

struct passwd *__wrap_getpwuid(uid_t uid)
{
    size_t i;

    errno = failure;
    for (i = 0; !failure && i < sizeof users / sizeof *users; i++)
        if (users[i].pw_uid == uid)
            return &users[i];
    return NULL;
}

struct passwd *__wrap_getpwnam(const char *name)
{
    size_t i;

    errno = failure;
    for (i = 0; !failure && i < sizeof users / sizeof *users; i++)
        if (strcmp(users[i].pw_name, name) == 0)
            return &users[i];
    return NULL;
}

struct group *__wrap_getgrnam(const char *name)
{
    errno = failure;
    return !failure && strcmp(name, shops.gr_name) == 0 ? &shops : NULL;
}

/* The groups of each user: root's, and more than fit at the first try. */
int __wrap_getgrouplist(const char *user, gid_t gid, gid_t *list, int *n)
{
    const gid_t all[] = {gid, 0, 2001, 0, 2002};
    int room = *n;

    (void)user;
    *n = 40;
    if (room < *n)
        return -1;
    memcpy(list, all, sizeof all);
    *n = 5;
    return 5;
}

int __wrap_setgroups(size_t n, const gid_t *list)
{
    assert_true(n <= 8);
    n_taken = n;
    memcpy(taken, list, n * sizeof *list);
    return 0;
}

/* As the kernel does it for a process that is not root any more. */
static int refused(void)
{
    errno = EPERM;
    return is[1] == 0 ? 0 : -1;
}

int __wrap_setresgid(gid_t r, gid_t e, gid_t s)
{
    if (refused())
        return -1;
    of[0] = r;
    of[1] = e;
    of[2] = s;
    return 0;
}

int __wrap_setresuid(uid_t r, uid_t e, uid_t s)
{
    if (refused())
        return -1;
    is[0] = r;
    is[1] = e;
    is[2] = stubborn ? 0 : s;
    return 0;
}

int __wrap_setuid(uid_t uid)
{
    return is[0] == uid || is[1] == uid || is[2] == uid ? 0 : refused();
}

int __wrap_prctl(int what, ...)
{
    assert_int_equal(what, PR_SET_NO_NEW_PRIVS);
    errno = EPERM;
    return forbidden ? -1 : 0;
}

uid_t __wrap_geteuid(void)
{
    return me;
}

static privilege_t account;
static char error[PRIVILEGE_ERROR_MAX];

static const char *root = "/";

static int find(const char *user, const char *group, uid_t owner)
{
    error[0] = 0;
    return privilege_find(&account, user, group, owner, root, error);
}

static int fresh(void **state)
{
    (void)state;
    failure = forbidden = stubborn = 0;
    root = "/";
    memset(is, 0, sizeof is);
    memset(of, 0, sizeof of);
    me = 0;
    n_taken = 0;
    return 0;
}

static void assert_says(const char *words)
{
    if (!strstr(error, words))
        fail_msg("\"%s\" does not say \"%s\"", error, words);
}

static void a_user_with_an_entry(void **state)
{
    (void)state;
    assert_int_equal(find("shop", NULL, USERDB_NOBODY), 0);
    assert_int_equal(account.uid, 1001);
    assert_int_equal(account.gid, 1002);
    assert_int_equal(find("#1001", "shops", USERDB_NOBODY), 0);
    assert_int_equal(account.gid, 1004);
    assert_int_equal(find(NULL, NULL, 1001), 0);
    assert_string_equal(account.name, "shop");
}

static void no_group_is_guessed(void **state)
{
    (void)state;
    assert_int_equal(find("#4711", NULL, USERDB_NOBODY), -1);
    assert_says("AppUser #4711 GROUP");
    assert_int_equal(find(NULL, NULL, 4711), -1);
    assert_says("AppUser #4711 GROUP");
    assert_says("AppRoot /");
    assert_int_equal(find("#4711", "#4712", USERDB_NOBODY), 0);
    assert_int_equal(account.uid, 4711);
    assert_int_equal(account.gid, 4712);
    assert_int_equal(account.known, 0);
    assert_int_equal(find("nosuchuser", NULL, USERDB_NOBODY), -1);
    assert_says("there is no user");
}

static void an_error_is_not_a_gap(void **state)
{
    (void)state;
    failure = EIO;
    assert_int_equal(find("#1001", "#1002", USERDB_NOBODY), -1);
    assert_says("look-up of user \"1001\" failed: Input/output error");
    assert_int_equal(find("shop", NULL, USERDB_NOBODY), -1);
    assert_says("look-up of user \"shop\" failed");
    assert_int_equal(find(NULL, NULL, 1001), -1);
    assert_says("a later start may succeed");
    failure = ESRCH;
    assert_int_equal(find("shop", NULL, USERDB_NOBODY), -1);
    assert_says("there is no user");
}

static void neither_root_nor_its_group(void **state)
{
    (void)state;
    assert_int_equal(find("#0", "shops", USERDB_NOBODY), -1);
    assert_says("no application runs as root");
    assert_int_equal(find("shop", "#0", USERDB_NOBODY), -1);
    assert_says("group \"#0\" is root's");
    assert_int_equal(find("rooty", NULL, USERDB_NOBODY), -1);
    assert_says("AppUser rooty GROUP");
    assert_int_equal(find(NULL, NULL, 1003), -1);
    assert_says("AppUser rooty GROUP");
    assert_int_equal(find("rooty", "shops", USERDB_NOBODY), 0);
    assert_int_equal(find(NULL, NULL, USERDB_NOBODY), -1);
    assert_says("graceful");
}

/* A reload would not help. */
static void no_directory_is_said(void **state)
{
    (void)state;
    root = "/dev/null";
    assert_int_equal(find(NULL, NULL, 0), -1);
    assert_says("AppRoot /dev/null is not a directory");
    root = "/nonexistent/place";
    assert_int_equal(find(NULL, NULL, USERDB_NOBODY), -1);
    assert_says("/nonexistent/place cannot be used: No such file or directory");
}

static void roots_group_is_left_out(void **state)
{
    const gid_t want[] = {1002, 2001, 2002};

    (void)state;
    assert_int_equal(find("shop", NULL, USERDB_NOBODY), 0);
    assert_int_equal(privilege_groups(&account, error), 0);
    assert_int_equal(n_taken, 3);
    assert_memory_equal(taken, want, sizeof want);
    assert_int_equal(find("#4711", "#4712", USERDB_NOBODY), 0);
    assert_int_equal(privilege_groups(&account, error), 0);
    assert_int_equal(n_taken, 1);
    assert_int_equal(taken[0], 4712);
}

static void all_of_roots_rights_are_dropped(void **state)
{
    int i;

    (void)state;
    assert_int_equal(find("shop", NULL, USERDB_NOBODY), 0);
    assert_int_equal(privilege_drop(&account, 0, error), 0);
    for (i = 0; i < 3; i++) {
        assert_int_equal(is[i], 1001);
        assert_int_equal(of[i], 1002);
    }
}

static void rights_that_cannot_be_dropped(void **state)
{
    (void)state;
    assert_int_equal(find("shop", NULL, USERDB_NOBODY), 0);
    forbidden = 1;
    assert_int_equal(privilege_drop(&account, 0, error), -1);
    assert_says("no_new_privs");
    fresh(NULL);
    forbidden = 1;
    assert_int_equal(privilege_drop(&account, 1, error), 0);
    fresh(NULL);
    stubborn = 1;
    assert_int_equal(privilege_drop(&account, 1, error), -1);
    assert_says("cannot become user shop");
}

static void without_roots_rights(void **state)
{
    (void)state;
    me = 4711;
    assert_int_equal(find(NULL, NULL, USERDB_NOBODY), 0);
    assert_int_equal(account.uid, 4711);
    assert_int_equal(account.gid, getegid());
    assert_int_equal(find("shop", NULL, USERDB_NOBODY), -1);
    assert_says("only root");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_user_with_an_entry, fresh),
        cmocka_unit_test_setup(no_group_is_guessed, fresh),
        cmocka_unit_test_setup(an_error_is_not_a_gap, fresh),
        cmocka_unit_test_setup(neither_root_nor_its_group, fresh),
        cmocka_unit_test_setup(no_directory_is_said, fresh),
        cmocka_unit_test_setup(roots_group_is_left_out, fresh),
        cmocka_unit_test_setup(all_of_roots_rights_are_dropped, fresh),
        cmocka_unit_test_setup(rights_that_cannot_be_dropped, fresh),
        cmocka_unit_test_setup(without_roots_rights, fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
