/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Whether it is certain that only root and the owner could have put a directory
 * in its place. */

#include "spawner/process/approot_owner.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

enum { SHOP = 1001, BLOG = 1002 };

static char top[] = "/tmp/approotXXXXXX";

static const char *at(const char *name)
{
    static char path[2][256];
    static int i;

    i = !i;
    snprintf(path[i], sizeof path[i], "%s/%s", top, name);
    return path[i];
}

static void make(const char *name, uid_t owner, mode_t mode)
{
    const char *path = at(name);

    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, owner, owner), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void make_link(const char *name, const char *to, uid_t owner)
{
    assert_int_equal(symlink(to, at(name)), 0);
    assert_int_equal(lchown(at(name), owner, owner), 0);
}

static int begin(void **state)
{
    (void)state;
    if (geteuid() != 0)
        return 0;
    assert_non_null(mkdtemp(top));
    assert_int_equal(chmod(top, 0755), 0);
    make("shop", SHOP, 0755);
    make("shop/first", SHOP, 0755);
    make("shop/blogs", BLOG, 0755);
    make("open", 0, 0777);
    make("open/shop", SHOP, 0755);
    make("group", 0, 0775);
    make("group/shop", SHOP, 0755);
    make("sticky", 0, 01777);
    make("sticky/shop", SHOP, 0755);
    make("links", BLOG, 0755);
    make_link("current", "shop/first", 0);
    make_link("links/current", "../shop/first", BLOG);
    make_link("through", "links/current", 0);
    make_link("sticky/current", "../shop/first", BLOG);
    make_link("sticky/own", "../shop/first", SHOP);
    make_link("loop", "loop", 0);
    make_link("whole", at("shop/first"), 0);
    return 0;
}

static int end(void **state)
{
    char command[64];

    (void)state;
    if (geteuid() != 0)
        return 0;
    snprintf(command, sizeof command, "rm -r %s", top);
    return system(command);
}

static int held(const char *name, uid_t owner)
{
    return approot_owner_is_held(at(name), owner);
}

static void roots_directories_lead_there(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_true(held("shop", SHOP));
    assert_true(held("shop/", SHOP));
    assert_true(held("shop/first", SHOP));
    assert_true(held("shop/../shop//first", SHOP));
    assert_true(held("current", SHOP));
    assert_true(held("whole", SHOP));
    assert_true(held("sticky/shop", SHOP));
    assert_true(held("sticky/own", SHOP));
}

static void it_is_another_owners(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_false(held("shop", BLOG));
    assert_false(held("shop", 0));
}

static void somebody_else_may_have_put_it_there(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_false(held("shop/blogs", BLOG));
    assert_false(held("open/shop", SHOP));
    assert_false(held("group/shop", SHOP));
    assert_false(held("links/current", SHOP));
    assert_false(held("through", SHOP));
    assert_false(held("sticky/current", SHOP));
}

static void there_is_no_way(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_false(held("loop", 0));
    assert_false(held("nothing", SHOP));
    assert_false(held("shop/first/nothing", SHOP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_directories_lead_there),
        cmocka_unit_test(it_is_another_owners),
        cmocka_unit_test(somebody_else_may_have_put_it_there),
        cmocka_unit_test(there_is_no_way),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
