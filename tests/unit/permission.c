/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A directory that cannot be entered, and one that does not respond, as on a
 * file server that is down: nobody waits for it forever. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* The order of these matters. */
#include <cmocka.h>

#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/commands.h"

static int waits; /* ms that it was to wait for the child */

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

/* In the child. */
int __wrap_stat(const char *path, struct stat *st)
{
    while (strcmp(path, "/file/server") == 0)
        pause();
    return __real_stat(path, st);
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    waits = ms;
    return __real_poll(fds, n,
                       strcmp(getenv("ROOT"), "/file/server") == 0 ? 50 : ms);
}

static int look(const char *root, char wrong[PERMISSION_MAX])
{
    const struct passwd *pw =
        geteuid() == 0 ? getpwnam("nobody") : getpwuid(geteuid());
    json_t *app;
    int is;

    setenv("ROOT", root, 1);
    assert_non_null(pw);
    app = json_pack("{s:s, s:n, s:s}", "user", pw->pw_name, "group", "app_root",
                    root);
    is = permission_wrong(app, wrong);
    json_decref(app);
    return is;
}

static void what_can_be_entered(void **state)
{
    char wrong[PERMISSION_MAX];

    (void)state;
    assert_int_equal(look("/", wrong), 0);
    assert_string_equal(wrong, "");
    assert_int_equal(look("/no such", wrong), 1);
    assert_string_equal(
        wrong, "AppRoot /no such cannot be used: No such file or directory");
}

static void what_does_not_respond(void **state)
{
    char wrong[PERMISSION_MAX], advice[ADVICE_MAX];

    (void)state;
    alarm(20);
    assert_int_equal(look("/file/server", wrong), PERMISSION_SILENT);
    alarm(0);
    assert_int_equal(waits, 5000);
    assert_non_null(strstr(wrong, "AppRoot /file/server within 5 s: its file "
                                  "system, or the user database, does not"));
    assert_non_null(strstr(permission_advice(wrong, advice), "file server"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_entered),
        cmocka_unit_test(what_does_not_respond),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
