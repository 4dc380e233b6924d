/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The configuration of the store: each value is checked, and one mistake
 * refuses all. */

#include "base/contract.h"
#include "store/server/store_config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD "{\"threads\": 4, \"max_object\": 1048576"
#define SPACE                                                                  \
    "\"key\": \"0a1b\", \"size\": 67108864, \"evict\": true, "                 \
    "\"max_connections\": 1024, \"uids\": [33, 1000]"
#define WHOLE HEAD ", \"spaces\": [{\"name\": \"shop\", " SPACE "}]}"

static char error[STORE_CONFIG_ERROR];

static store_config_t *parse(const char *text)
{
    error[0] = 0;
    return store_config_parse(text, strlen(text), error);
}

static void everything_is_read(void **state)
{
    store_config_t *c = parse(WHOLE);

    (void)state;
    assert_non_null(c);
    assert_int_equal(c->threads, 4);
    assert_int_equal(c->max_object, 1048576);
    assert_int_equal(c->n_spaces, 1);
    assert_string_equal(c->spaces[0].name, "shop");
    assert_string_equal(c->spaces[0].key, "0a1b");
    assert_int_equal(c->spaces[0].size, 67108864);
    assert_int_equal(c->spaces[0].evict, 1);
    assert_int_equal(c->spaces[0].max_connections, 1024);
    assert_true(store_config_admits(&c->spaces[0], 0));
    assert_true(store_config_admits(&c->spaces[0], 33));
    assert_true(store_config_admits(&c->spaces[0], 1000));
    assert_false(store_config_admits(&c->spaces[0], 34));
    store_config_free(c);
}

static void the_time_of_a_save_is_read(void **state)
{
    store_config_t *c = parse(HEAD ", \"spaces\": []}");

    (void)state;
    assert_int_equal(c->save_time, CONTRACT_STORE_SAVE_DEFAULT);
    store_config_free(c);
    c = parse(HEAD ", \"save_time\": 7, \"spaces\": []}");
    assert_int_equal(c->save_time, 7);
    assert_int_equal(c->save_every, 0);
    store_config_free(c);
    c = parse(HEAD ", \"save_every\": 300, \"spaces\": []}");
    assert_int_equal(c->save_every, 300);
    store_config_free(c);
    assert_null(parse(HEAD ", \"save_every\": 86401, \"spaces\": []}"));
    assert_null(parse(HEAD ", \"save_time\": 0, \"spaces\": []}"));
    assert_null(parse(HEAD ", \"save_time\": 3601, \"spaces\": []}"));
}

static void there_may_be_no_space(void **state)
{
    store_config_t *c = parse(HEAD ", \"spaces\": []}");

    (void)state;
    assert_non_null(c);
    assert_int_equal(c->n_spaces, 0);
    store_config_free(c);
}

/* Each document has one mistake, which the sentence names. */
static void a_mistake_refuses_all(void **state)
{
    static const char *const wrong[][2] = {
        {"", "line"},
        {"[]", "no JSON object"},
        {"{\"threads\": 4, \"threads\": 4", "line"},
        {"{\"threads\": 0, \"max_object\": 4096, \"spaces\": []}", "threads"},
        {"{\"threads\": 17, \"max_object\": 4096, \"spaces\": []}", "threads"},
        {"{\"threads\": \"4\", \"max_object\": 4096, \"spaces\": []}",
         "threads"},
        {"{\"threads\": 4, \"max_object\": 31457281, \"spaces\": []}",
         "max_object"},
        {HEAD "}", "spaces"},
        {HEAD ", \"spaces\": {}}", "spaces"},
        {HEAD ", \"spaces\": [1]}", "name"},
        {HEAD ", \"spaces\": [{\"name\": \"\", " SPACE "}]}", "name"},
        {HEAD ", \"spaces\": [{\"name\": \"a\\nb\", " SPACE "}]}", "name"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"key\": \"../x\", \"size\": "
              "67108864, \"evict\": true, \"max_connections\": 1, \"uids\": "
              "[]}]}",
         "space s: \"key\""},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"key\": \"table\", \"size\": "
              "67108864, \"evict\": true, \"max_connections\": 1, \"uids\": "
              "[]}]}",
         "another file"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"key\": \"k\", \"size\": "
              "34359738369, \"evict\": true, \"max_connections\": 1, "
              "\"uids\": []}]}",
         "size"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"key\": \"k\", \"size\": "
              "67108864, \"evict\": 1, \"max_connections\": 1, \"uids\": []}]}",
         "evict"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"key\": \"k\", \"size\": "
              "67108864, \"evict\": true, \"max_connections\": 0, \"uids\": "
              "[]}]}",
         "max_connections"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"key\": \"k\", \"size\": "
              "67108864, \"evict\": true, \"max_connections\": 1, "
              "\"uids\": [-1]}]}",
         "uids"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"key\": \"k\", \"size\": "
              "67108864, \"evict\": true, \"max_connections\": 1, "
              "\"uids\": \"33\"}]}",
         "uids"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"confirm\": \"yes\", " SPACE
              "}]}",
         "confirm"},
        {HEAD ", \"spaces\": [{\"name\": \"s\", \"confirm\": true, " SPACE
              "}]}",
         "confirm"},
        {HEAD ", \"spaces\": [{\"name\": \"a\", " SPACE
              "}, {\"name\": \"b\", " SPACE "}]}",
         "two spaces"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(parse(wrong[i][0]));
        if (!strstr(error, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], error);
    }
}

/* httpd of an older build does not write it. */
static void who_confirms(void **state)
{
    static const struct {
        const char *text;
        store_space_confirm_t confirm;
    } all[] = {{"", STORE_CONFIRM_OFF},
               {"\"confirm\": \"off\", ", STORE_CONFIRM_OFF},
               {"\"confirm\": \"on\", ", STORE_CONFIRM_ON},
               {"\"confirm\": \"refuse\", ", STORE_CONFIRM_REFUSE}};
    char text[512];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        store_config_t *c;

        snprintf(text, sizeof text,
                 HEAD ", \"spaces\": [{\"name\": \"s\", %s" SPACE "}]}",
                 all[i].text);
        c = parse(text);
        assert_non_null(c);
        assert_int_equal(c->spaces[0].confirm, all[i].confirm);
        store_config_free(c);
    }
}

/* The document may be cut off at any byte. */
static void a_part_is_refused(void **state)
{
    size_t n;

    (void)state;
    for (n = 0; n < strlen(WHOLE); n++)
        assert_null(store_config_parse(WHOLE, n, error));
}

static void it_is_read_from_a_file(void **state)
{
    char dir[] = "/tmp/apst-XXXXXX";
    store_config_t *c;
    int dirfd, fd;

    (void)state;
    assert_non_null(mkdtemp(dir));
    dirfd = open(dir, O_RDONLY | O_DIRECTORY);
    assert_null(store_config_read(dirfd, "table", error));
    assert_string_equal(error, "No such file or directory");
    fd = openat(dirfd, "table", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, WHOLE, strlen(WHOLE)), strlen(WHOLE));
    close(fd);
    c = store_config_read(dirfd, "table", error);
    assert_non_null(c);
    store_config_free(c);
    assert_int_equal(symlinkat("table", dirfd, "link"), 0);
    assert_null(store_config_read(dirfd, "link", error));
    assert_int_equal(mkdirat(dirfd, "dir", 0700), 0);
    assert_null(store_config_read(dirfd, "dir", error));
    unlinkat(dirfd, "table", 0);
    unlinkat(dirfd, "link", 0);
    unlinkat(dirfd, "dir", AT_REMOVEDIR);
    close(dirfd);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(the_time_of_a_save_is_read),
        cmocka_unit_test(there_may_be_no_space),
        cmocka_unit_test(a_mistake_refuses_all),
        cmocka_unit_test(who_confirms),
        cmocka_unit_test(a_part_is_refused),
        cmocka_unit_test(it_is_read_from_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
