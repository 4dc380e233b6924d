/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A virtual environment whose Python is gone, or is another one. */

#include "detect/detect_venv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/detect.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

/* @param python what bin/python is a link to; NULL: it is not there
 * @param config of pyvenv.cfg; NULL: there is none */
static void make(const char *name, const char *python, const char *config)
{
    char path[64];

    snprintf(path, sizeof path, "%s/bin", name);
    files_mkdir(path);
    snprintf(path, sizeof path, "%s/bin/python", name);
    unlink(path);
    if (python)
        assert_int_equal(symlink(python, path), 0);
    snprintf(path, sizeof path, "%s/pyvenv.cfg", name);
    unlink(path);
    if (config)
        files_program(path, config);
}

#define MADE_WITH(version) "home = /usr/bin\nversion = " version "\n"

/* host/python3 leads to python3.11. */
static void each_row(void **state)
{
    static const struct {
        const char *python, *config, *why; /* NULL: it is good */
    } rows[] = {
        {"../../host/python3", MADE_WITH("3.11.2"), NULL},
        {"../../host/python3", MADE_WITH("3.11.9"), NULL}, /* a patch release */
        {"../../host/python3", MADE_WITH("3.9.2"),
         "venv has packages of Python 3.9, and venv/bin/python is "},
        {"../../host/python3", MADE_WITH("3.1.1"), "of Python 3.1, and"},
        {"../../host/python3", MADE_WITH("2.11.1"), "of Python 2.11, and"},
        {"../../host/python3", "version_info = 3.12.0.final.0\n",
         "of Python 3.12, and"},
        {"../../host/python3", "version_info=3.11.0\r\n", NULL},
        /* Nobody knows. */
        {"../../host/python3", "home = /usr/bin\n", NULL},
        {"../../host/python3", "version = new\n", NULL},
        {"../../host/other", MADE_WITH("3.9.2"), NULL},
        /* Conda, and what somebody else has made. */
        {"../../host/python3", NULL, NULL},
        {"../../host/gone", NULL, NULL},
        {"../../host/gone", MADE_WITH("3.9.2"),
         "venv/bin/python cannot be executed (it is venv/bin/../../host/gone: "
         "No such file or directory)"},
        {"/usr/bin/python3.9.gone", MADE_WITH("3.9.2"),
         "(it is /usr/bin/python3.9.gone: "},
        {"python", MADE_WITH("3.9.2"), "Too many levels of symbolic links"},
        {NULL, MADE_WITH("3.9.2"), "(it is venv/bin/python: No such file"},
        {"../../host/text", MADE_WITH("3.9.2"), "host/text: Permission denied"},
    };
    char why[512];
    size_t i;

    (void)state;
    files_program("host/python3.11", "");
    files_program("host/other", "");
    files_program("host/text", "");
    assert_int_equal(chmod("host/text", 0644), 0);
    assert_int_equal(symlink("python3.11", "host/python3"), 0);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        make("venv", rows[i].python, rows[i].config);
        strcpy(why, "");
        assert_int_equal(detect_venv_is_broken(why, sizeof why),
                         rows[i].why != NULL);
        if (rows[i].why && (!strstr(why, rows[i].why) ||
                            !strstr(why, "python3 -m venv --clear venv")))
            fail_msg("row %d: %s", (int)i, why);
    }
}

static void packages_of_both(void **state)
{
    char why[512];

    (void)state;
    make("venv", "../../host/python3", MADE_WITH("3.9.2"));
    assert_int_equal(detect_venv_is_broken(why, sizeof why), 1);
    files_mkdir("venv/lib/python3.11/site-packages");
    assert_int_equal(detect_venv_is_broken(why, sizeof why), 0);
    assert_int_equal(rmdir("venv/lib/python3.11/site-packages"), 0);
}

/* The first one that has a Python counts, as in PATH. */
static void one_of_several(void **state)
{
    char why[512];

    (void)state;
    make("venv", "gone", MADE_WITH("3.11.2"));
    make("env", "gone", MADE_WITH("3.11.2"));
    assert_null(detect_venv_find());
    assert_int_equal(detect_venv_is_broken(why, sizeof why), 1);
    make(".venv", "../../host/python3", MADE_WITH("3.11.2"));
    assert_string_equal(detect_venv_find(), ".venv");
    assert_int_equal(detect_venv_is_broken(why, sizeof why), 0);
    make(".venv", "../../host/python3", MADE_WITH("3.9.2"));
    assert_int_equal(detect_venv_is_broken(why, sizeof why), 1);
    assert_non_null(strstr(why, "--clear .venv"));
}

/* The environment is broken. @return 1: that is an error */
static int is_refused(const char *file, const char *text)
{
    const detect_config_t config = {.listen = APL_LISTEN_FD,
                                    .protocol = APL_AUTO,
                                    .concurrency = APL_CONCURRENCY_AUTO};
    detect_found_t found;
    int refused;

    files_program(file, text);
    memset(&found, 0, sizeof found);
    refused = !detect_command(&config, &found);
    if (refused) {
        assert_non_null(strstr(found.why, file));
        assert_non_null(strstr(found.why, "venv/bin/python"));
        assert_string_equal(found.command, "");
    }
    unlink(file);
    return refused;
}

static void what_it_matters_to(void **state)
{
    const detect_config_t config = {.listen = APL_LISTEN_FD,
                                    .protocol = APL_AUTO,
                                    .concurrency = APL_CONCURRENCY_AUTO};
    detect_found_t found;

    (void)state;
    assert_int_equal(is_refused("wsgi.py", ""), 1);
    assert_int_equal(is_refused("asgi.py", ""), 1);
    assert_int_equal(is_refused("Procfile", "web: gunicorn shop\n"), 1);
    assert_int_equal(is_refused("Procfile", "web: A=1 env python -u x\n"), 1);
    assert_int_equal(is_refused("Procfile", "web: venv/bin/python x\n"), 1);
    assert_int_equal(is_refused("Procfile", "web: /usr/bin/python3 x\n"), 0);
    assert_int_equal(is_refused("Procfile", "web: node x\n"), 0);
    assert_int_equal(is_refused("Procfile", "web: ./run\n"), 0);
    assert_int_equal(is_refused("server.js", ""), 0);
    assert_int_equal(is_refused("index.php", ""), 0);
    assert_int_equal(is_refused("config.ru", ""), 0);
    detect_given(&config, "python app.py", &found);
    assert_string_equal(found.why, "there is an AppCommand");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(packages_of_both),
        cmocka_unit_test(one_of_several),
        cmocka_unit_test(what_it_matters_to),
    };

    return cmocka_run_group_tests(tests, files_begin, files_end);
}
