/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* AppEnvFile: what its lines mean, and which are refused. */

#include "spawner/start/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/scene.h"

static char error[ENV_FILE_ERROR_MAX];

int __lsan_is_turned_off(void);

/* For LeakSanitizer: the new program keeps what is read, and never frees it. */
int __lsan_is_turned_off(void)
{
    return 1;
}

static char **parse(const char *text)
{
    char *copy = strdup(text);

    error[0] = 0;
    return env_file_parse("/etc/shop.env", copy, strlen(copy), error);
}

/* The only variable of a text. */
static void is(const char *text, const char *entry)
{
    char **list = parse(text);

    if (!list || !list[0] || list[1])
        fail_msg("%s: %s", text, error);
    assert_string_equal(list[0], entry);
}

static void values(void **state)
{
    (void)state;
    is("A=b", "A=b");
    is("A=b\n", "A=b");
    is("A=b\r\n", "A=b");
    is("  A= b c\t \n", "A=b c");
    is("A=", "A=");
    is("A=\n", "A=");
    is("A=x=y;z", "A=x=y;z");
    is("A=a#b", "A=a#b");
    is("A=#b", "A=#b");
    is("A=$HOME `id` %s", "A=$HOME `id` %s");
    is("A='b \"c\" \\ # $d' ", "A=b \"c\" \\ # $d");
    is("A=\"b 'c' \\\" \\\\ \\$ \\` \\n # d\"", "A=b 'c' \" \\ $ ` \\n # d");
    is("A=\"\"", "A=");
    is("export A=b", "A=b");
    is("export\tA='b'", "A=b");
    is("export=b", "export=b");
    is("_a9=\xff", "_a9=\xff");
}

static void what_sets_nothing(void **state)
{
    char **list = parse("\n  \n# A=b\n ; A=b\n\t#\nB=1\n\nC=2");

    (void)state;
    assert_non_null(list);
    assert_string_equal(list[0], "B=1");
    assert_string_equal(list[1], "C=2");
    assert_null(list[2]);
    list = parse("");
    assert_non_null(list);
    assert_null(list[0]);
}

static void what_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"A=1\nB", "line 2: there is no ="},
        {"A=1\n\nsecret word=1", "line 3: the text before the = is not"},
        {"1A=1", "line 1: the text before the = is not a name"},
        {"=1", "line 1: the text before the = is not a name"},
        {"A =1", "line 1: the text before the = is not a name"},
        {"export  =1", "line 1: the text before the = is not a name"},
        {"APPPOOL_ID=1", "is set by mod_apppool itself"},
        {"LISTEN_PID=1", "is set by mod_apppool itself"},
        {"A=it's", "line 1, A: a value with quotes"},
        {"A=a\\b", "line 1, A: a value with quotes, a backslash"},
        {"A=b # c", "line 1, A: a value with quotes, a backslash, or #"},
        {"A='b", "line 1, A: the quote that begins the value has no other"},
        {"A=\"b\nc\"", "line 1, A: the quote that begins"},
        {"A=\"b\\\"", "line 1, A: the quote that begins"},
        {"A='b'c", "line 1, A: there is text after the closing quote"},
        {"A='b' # c", "line 1, A: there is text after the closing quote"},
        {"A=\x01", "line 1: there is a control character"},
        {"A=b\rc", "line 1: there is a control character"},
        {"\xef\xbb\xbf"
         "A=1",
         "line 1: the text before the = is not a name"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(parse(wrong[i].text));
        if (!strstr(error, "AppEnvFile /etc/shop.env: ") ||
            !strstr(error, wrong[i].says) || strstr(error, "secret"))
            fail_msg("%s: %s", wrong[i].text, error);
    }
}

static void a_nul_is_a_control_character(void **state)
{
    char text[] = "A=1\0002\n";

    (void)state;
    assert_null(env_file_parse("f", text, sizeof text - 1, error));
    assert_non_null(strstr(error, "control character"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(what_sets_nothing),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(a_nul_is_a_control_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
