/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The app table is accepted as a whole, or refused with the reason. */

#include "spawner/process/app_table.h"

#include <apr_strings.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/memory.h"
#include "tests/unit/support/scene.h"

static const char good[] =
    "{'version': 2, 'config': 3, 'instance': '00112233445566ff',"
    " 'capacity': {'groups': 1024, 'processes': 64, 'sessions': 256,"
    " 'children': 128}, 'httpd_uid': 33, 'httpd_gid': 34,"
    " 'error_log': null, 'log_level': 4, 'max_pool_size': 6, 'other': [], "
    "'apps': 1}\n"
    "{'name': '/srv/shop/current (production)', 'root': '/srv/shop/current',"
    " 'label': 'shop',"
    " 'command': null, 'user': 'shop', 'group': null,"
    " 'owner': 1001, 'uid': 1001,"
    " 'environment': 'production', 'env': {'A': 'x y', 'B': ''}, 'store_env': "
    "{'S': 'm'}, 'env_file': '/etc/shop', 'restart_dir': '/srv/shop/tmp', "
    "'directives': 'A',"
    " 'protocol': 'scgi', 'ready': 'notify', 'host': 'a.example',"
    " 'listen': 'tcp', 'log': '/var/log/shop', 'log_raw': true, 'notify': "
    "'mail',"
    " 'base_uri': '/shop', 'start_timeout': 90, 'stop_timeout': 0.5,"
    " 'memory_limit': 3000000000, 'slow_after': 2.5, 'dump_signal': 12, "
    "'stop_signal': 3, 'retire_timeout': 1.5, 'no_new_privileges': false, "
    "'min': "
    "1, 'max': 8, "
    "'max_requests': 100, "
    "'jitter': 10,"
    " 'hung_after': 30, 'kill_after': 1800, 'hung_stop_timeout': 2.5,"
    " 'spawn_if_under': 5, 'hung_extra': 4, 'unkillable_stop': 6,"
    " 'concurrency': 2, 'idle_time': 300.0, 'global_queue': true,"
    " 'max_queue': 7, 'check_interval': 1.5, 'rolling': true, 'prestart': "
    "false, 'preload': 0, 'preload_idle': 2.5, 'rlimits': {'cpu': [10, "
    "20], 'mem': null, 'nproc': [5, -1]}}\n";

#define WIRE "'protocol': 'scgi', 'ready': 'notify'"

static char error[APP_TABLE_ERROR_MAX];

/* Single quotes for double ones, to be readable here. */
static app_table_t *parse(const char *text)
{
    char *json = apr_pstrdup(memory, text), *c;

    for (c = json; *c; c++)
        if (*c == '\'')
            *c = '"';
    error[0] = 0;
    return app_table_parse(json, strlen(json), memory, error);
}

/* The good table with one value changed. */
static app_table_t *with(const char *from, const char *to)
{
    const char *at = strstr(good, from);

    assert_non_null(at);
    return parse(apr_pstrcat(memory,
                             apr_pstrmemdup(memory, good, (size_t)(at - good)),
                             to, at + strlen(from), NULL));
}

/* The good table with this many apps: in each of them `from` is `to`, where %d
 * is its number. */
static app_table_t *several(int n, const char *from, const char *to)
{
    const char *app = strstr(good, "{'name'"), *at = strstr(app, from);
    const char *format =
        apr_pstrcat(memory, apr_pstrmemdup(memory, app, (size_t)(at - app)), to,
                    at + strlen(from), NULL);
    char *text = apr_pstrmemdup(memory, good, (size_t)(app - good));
    int i;

    *strstr(text, "1}\n") = (char)('0' + n);
    for (i = 0; i < n; i++)
        text = apr_pstrcat(memory, text, apr_psprintf(memory, format, i), NULL);
    return parse(text);
}

static void all_values_arrive(void **state)
{
    const app_table_t *t = parse(good);
    const app_entry_t *a;

    (void)state;
    assert_non_null(t);
    assert_int_equal(t->config, 3);
    assert_int_equal(t->max_pool_size, 6);
    assert_int_equal(t->httpd_uid, 33);
    assert_int_equal(t->httpd_gid, 34);
    assert_string_equal(t->instance, "00112233445566ff");
    assert_int_equal(t->capacity.groups, 1024);
    assert_int_equal(t->capacity.processes, 64);
    assert_int_equal(t->capacity.sessions, 256);
    assert_int_equal(t->capacity.children, 128);
    assert_null(t->error_log);
    assert_int_equal(t->log_level, 4);
    assert_null(app_table_find(t, "shop"));
    a = app_table_find(t, "/srv/shop/current (production)");
    assert_non_null(a);
    assert_string_equal(a->label, "shop");
    assert_null(a->command);
    assert_string_equal(a->user, "shop");
    assert_int_equal(a->owner, 1001);
    assert_int_equal(a->uid, 1001);
    assert_string_equal(a->env[0], "A=x y");
    assert_string_equal(a->env[1], "B=");
    assert_null(a->env[2]);
    assert_string_equal(a->store_env[0], "S=m");
    assert_null(a->store_env[1]);
    assert_int_equal(a->listen, APL_LISTEN_TCP);
    assert_int_equal(a->protocol, APL_SCGI);
    assert_null(a->ready);
    assert_string_equal(a->host, "a.example");
    assert_int_equal(a->notifies, 1);
    assert_int_equal(a->start_timeout, 90000000);
    assert_int_equal(a->stop_timeout, 500000);
    assert_true(a->memory_limit == 3000000000);
    assert_string_equal(a->notify, "mail");
    assert_int_equal(a->dump_signal, 12);
    assert_int_equal(a->stop_signal, 3);
    assert_int_equal(a->retire_timeout, 1500000);
    assert_int_equal(a->no_new_privileges, 0);
    assert_int_equal(a->slow_after, 2500000);
    assert_int_equal(a->preload, 0);
    assert_int_equal(a->preload_idle, 2500000);
    assert_int_equal(a->app.options.config, 3);
    assert_int_equal(a->app.options.concurrency, 2);
    assert_int_equal(a->app.options.global_queue, 1);
    assert_int_equal(a->app.options.check_interval, 1500000);
    assert_int_equal(a->app.options.hung_after, 30000000);
    assert_int_equal(a->app.options.kill_after, 1800000000);
    assert_int_equal(a->app.options.spawn_if_under, 5);
    assert_int_equal(a->app.options.hung_extra, 4);
    assert_int_equal(a->app.options.unkillable_stop, 6);
    assert_int_equal(a->hung_stop_timeout, 2500000);
    assert_int_equal(a->n_rlimits, 2);
    assert_int_equal(a->rlimits[0].resource, RLIMIT_CPU);
    assert_int_equal(a->rlimits[0].to.rlim_cur, 10);
    assert_int_equal(a->rlimits[0].to.rlim_max, 20);
    assert_int_equal(a->rlimits[1].resource, RLIMIT_NPROC);
    assert_true(a->rlimits[1].to.rlim_max == RLIM_INFINITY);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"'version': 2", "'version': 1", "version"},
        {"'config': 3", "'config': -1", "config"},
        {"00112233445566ff", "0011223344556G77", "instance"},
        {"'groups': 1024", "'groups': 0", "groups"},
        {"'sessions': 256", "'sessions': 99999999999", "sessions"},
        {"'capacity'", "'capacities'", "groups"},
        {"'httpd_uid': 33", "'httpd_uid': '33'", "httpd_uid"},
        {"'max_pool_size': 6", "'max_pool_size': 0", "max_pool_size"},
        {"'error_log': null", "'error_log': 'logs/x'", "error_log"},
        {"'error_log': null", "'error_log': null, 'error_format': ''",
         "error_format"},
        {"'error_log': null", "'error_log': null, 'error_format': '%l\\n%M'",
         "error_format"},
        {"'log_level': 4", "'log_level': 16", "log_level"},
        {"'log_level': 4,", "", "log_level"},
        {"'/srv/shop/current'", "'srv'", "root"},
        {"'command': null", "'command': 7", "command"},
        {"'command': null", "'command': 'a\\nb'", "command"},
        {"'owner': 1001", "'owner': 4294967295", "owner"},
        {"'owner': 1001", "'owner': 'shop'", "owner"},
        {"'uid': 1001", "'uid': -1", "uid"},
        {"'A': 'x y'", "'A': 1", "env"},
        {"'S': 'm'", "'S': 1", "store_env"},
        {"'store_env'", "'other_env'", "store_env"},
        {"'A': 'x y'", "'A=B': 'x'", "env"},
        {"'A': 'x y'", "'APPPOOL_ID': 'x'", "APPPOOL_ID"},
        {"'listen': 'tcp'", "'listen': 'udp'", "listen"},
        {"'protocol': 'scgi'", "'protocol': 'ajp'", "protocol"},
        {"'notify'", "'up'", "ready"},
        {"'notify'", "null", "ready"},
        {"'notify'", "'/up'", "protocol"},
        {WIRE, "'protocol': 'http', 'ready': '/u p'", "ready"},
        {WIRE ", 'host': 'a.example'",
         "'protocol': 'http', 'ready': '/up', 'host': 'a b'", "host"},
        {"'start_timeout': 90", "'start_timeout': -1", "start_timeout"},
        {"'min': 1", "'min': 1.5", "min"},
        {"'hung_after': 30", "'hung_after': -1", "hung_after"},
        {"'hung_extra': 4, ", "", "hung_extra"},
        {"3000000000", "-1", "memory_limit"},
        {"3000000000", "'3G'", "memory_limit"},
        {"'notify': 'mail'", "'notify': 7", "notify"},
        {"'notify': 'mail'", "'notify': 'a\\nb'", "notify"},
        {"'dump_signal': 12", "'dump_signal': -1", "dump_signal"},
        {"'dump_signal': 12", "'dump_signal': 65", "dump_signal"},
        {"'preload': 0", "'preload': true", "preload"},
        {"'preload': 0", "'preload': 3", "preload"},
        {"'preload': 0", "'preload': 1", "needs http and fd"},
        {"'preload_idle': 2.5", "'preload_idle': -1", "preload_idle"},
        {"'slow_after': 2.5", "'slow_after': -1", "slow_after"},
        {"'max': 8", "'max': 9999999999", "max"},
        {"'prestart': false", "'prestart': 0", "prestart"},
        {"[10, 20]", "[10]", "rlimits"},
        {"[10, 20]", "'many'", "rlimits"},
        {"'mem': null, ", "", "rlimits"},
        {"'user': 'shop'", "'user': 'a', 'user': 'b'", "user"},
        {"'apps': 1", "'apps': '1'", "apps"},
        {"'apps': 1", "'apps': 0", "behind the last app"},
        {"'apps': 1", "'apps': 2", "line 3"},
        {"{'name': '/srv/shop/current (production)'", "{'name': ''", "name"},
        {"{'name'", "['name'", "line 2"},
        {"-1]}}", "-1]}", "line 2"},
        {"{'version'", "[], {'version'", "line 1: no object"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(with(cases[i].from, cases[i].to));
        if (!strstr(error, cases[i].says))
            fail_msg("%s: %s", cases[i].to, error);
    }
}

/* A table that was cut anywhere is none. Only the last end of a line may be
 * missing. */
static void a_part_is_refused(void **state)
{
    size_t whole = strlen(good) - 1, n;

    (void)state;
    for (n = 0; n < whole; n++) {
        assert_null(parse(apr_pstrndup(memory, good, n)));
        assert_int_not_equal(error[0], 0);
    }
    assert_non_null(parse(apr_pstrndup(memory, good, whole)));
}

static void a_name_stands_for_one_app(void **state)
{
    (void)state;
    assert_null(several(2, "'directives'", "'directives'"));
    assert_non_null(strstr(error, "two"));
}

/* So 2,000 virtual hosts need the memory of what differs. */
static void what_is_equal_is_kept_once(void **state)
{
    const app_table_t *t = several(3, "shop/current (", "%d/current (");
    const app_entry_t *a, *b;

    (void)state;
    assert_non_null(t);
    a = &t->apps[0];
    b = &t->apps[1];
    assert_string_equal(a->app.name, "/srv/0/current (production)");
    assert_string_equal(b->app.name, "/srv/1/current (production)");
    assert_ptr_equal(a->app.root, b->app.root);
    assert_ptr_equal(a->environment, b->environment);
    assert_ptr_equal(a->env, b->env);
    assert_ptr_equal(a->store_env, b->store_env);
    assert_ptr_equal(a->directives, b->directives);
    assert_ptr_not_equal(a->env, a->store_env);
}

static void directives_are_lines(void **state)
{
    const app_table_t *t =
        with("'directives': 'A'", "'directives': 'A\\tx\\t\\nB\\t\\ty\\n'");

    (void)state;
    assert_non_null(t);
    assert_string_equal(t->apps[0].directives[0], "A\tx\t");
    assert_string_equal(t->apps[0].directives[1], "B\t\ty");
    assert_null(t->apps[0].directives[2]);
}

static void a_path_is_asked_for_over_http(void **state)
{
    const app_table_t *t = with(WIRE, "'protocol': 'http', 'ready': '/up?a=b'");

    (void)state;
    assert_non_null(t);
    assert_string_equal(t->apps[0].ready, "/up?a=b");
    assert_int_equal(t->apps[0].notifies, 0);
}

/* The path is then not used, which is no reason to refuse all apps. */
static void the_host_matters_for_a_path_only(void **state)
{
    (void)state;
    assert_non_null(with("'a.example'", "'b\u00fccher shop'"));
}

static uint64_t print_of(const app_table_t *t)
{
    assert_non_null(t);
    return t->apps[0].print;
}

static void a_process_is_outdated_by_what_it_was_made_from(void **state)
{
    uint64_t print = print_of(parse(good));

    (void)state;
    assert_true(print == print_of(with("'min': 1", "'min': 2")));
    assert_true(print == print_of(with("'config': 3", "'config': 4")));
    assert_true(print == print_of(with("3000000000", "0")));
    assert_true(print == print_of(with("'notify'", "'accept'")));
    assert_true(print == print_of(with("'owner': 1001", "'owner': null")));
    assert_true(print !=
                print_of(with("'concurrency': 2", "'concurrency': 3")));
    assert_true(print != print_of(with("'A': 'x y'", "'A': 'x'")));
    assert_true(print != print_of(with("'S': 'm'", "'S': 'n'")));
    assert_true(print != print_of(with("'S': 'm'", "")));
    assert_true(print != print_of(with("'command': null", "'command': 'c'")));
    assert_true(print != print_of(with("'user': 'shop'", "'user': null")));
    assert_true(print != print_of(with("'group': null", "'group': 'shop'")));
    assert_true(print_of(with("'user': 'shop', 'group': null",
                              "'user': 'sho', 'group': 'ps'")) !=
                print_of(with("'user': 'shop', 'group': null",
                              "'user': 'shop', 'group': 's'")));
    assert_true(print != print_of(with("'listen': 'tcp'", "'listen': 'fd'")));
    assert_true(print !=
                print_of(with("'protocol': 'scgi'", "'protocol': 'http'")));
    assert_true(print != print_of(with("[10, 20]", "[10, 30]")));
    assert_true(print != print_of(with("[10, 20]", "null")));
}

/* A file without content is read to its end, and is no JSON. */
static void a_file_may_be_too_large(void **state)
{
    char place[] = "/tmp/apppool-XXXXXX";
    int dir, file;

    (void)state;
    assert_non_null(mkdtemp(place));
    dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    file = openat(dir, "table", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(file, (1 << 30) + 1), 0);
    assert_null(app_table_load(dir, "table", memory, error));
    assert_non_null(strstr(error, "it has 1073741825 bytes, and at most "
                                  "1073741824 are read"));
    assert_int_equal(ftruncate(file, 100), 0);
    assert_null(app_table_load(dir, "table", memory, error));
    assert_null(strstr(error, "bytes"));
    assert_int_equal(fchmod(file, 0622), 0);
    assert_null(app_table_load(dir, "table", memory, error));
    assert_string_equal(error, "it is no file that only root may write");
    assert_int_equal(unlinkat(dir, "table", 0), 0);
    close(file);
    close(dir);
    assert_int_equal(rmdir(place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_values_arrive),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_part_is_refused),
        cmocka_unit_test(a_name_stands_for_one_app),
        cmocka_unit_test(what_is_equal_is_kept_once),
        cmocka_unit_test(directives_are_lines),
        cmocka_unit_test(a_path_is_asked_for_over_http),
        cmocka_unit_test(the_host_matters_for_a_path_only),
        cmocka_unit_test(a_process_is_outdated_by_what_it_was_made_from),
        cmocka_unit_test(a_file_may_be_too_large),
    };

    return cmocka_run_group_tests(tests, memory_begin, memory_end);
}
