/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The last command of a line of the shell, and `exec` before it: a table of
 * lines, each compared with what sh makes of it. */

#include "detect/shell_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

/* A line, and what is run; NULL: it is not understood, and stays. */
static const struct {
    const char *line, *to;
} rows[] = {
    {"./show", "exec ./show"},
    {"  ./show  a ", "  exec ./show  a "},
    {"A=1 ./show", "A=1 exec ./show"},
    {"A=1 B='2 3' ./show \"$A\"", "A=1 B='2 3' exec ./show \"$A\""},
    {"A=\"x y\"z ./show", "A=\"x y\"z exec ./show"},
    {"exec ./show a", "exec ./show a"},
    {"A=1 exec ./show a", "A=1 exec ./show a"},
    {"env A=1 ./show", "exec env A=1 ./show"},
    {"cd sub && ../show", "cd sub && exec ../show"},
    {"cd sub&&A=2 ../show b", "cd sub&&A=2 exec ../show b"},
    {"cd sub; ../show;", "cd sub; exec ../show;"},
    {"cd sub; ../show ; # the end", "cd sub; exec ../show ; # the end"},
    {". ./env && ./show", ". ./env && exec ./show"},
    {"unset A && ./show", "unset A && exec ./show"},
    {"export A=1; ./show", "export A=1; exec ./show"},
    {"export A='1;2' && ./show", "export A='1;2' && exec ./show"},
    {"A=1; export A; ./show", "A=1; export A; exec ./show"},
    {"./show one && ./show two", "./show one && exec ./show two"},
    {"./show 'a && b' ; ./show \"c; d\"",
     "./show 'a && b' ; exec ./show \"c; d\""},
    {"./show ${PORT:-5000} $A", "exec ./show ${PORT:-5000} $A"},
    {"./show \"${A:-x y}\" ${A:-\"p q\"}",
     "exec ./show \"${A:-x y}\" ${A:-\"p q\"}"},
    {"./show $(echo 1; echo 2) \"$(echo \"3  4\")\"",
     "exec ./show $(echo 1; echo 2) \"$(echo \"3  4\")\""},
    {"./show `echo 1 && echo 2`", "exec ./show `echo 1 && echo 2`"},
    {"A=$(./show x | tr a-z A-Z) ./show",
     "A=$(./show x | tr a-z A-Z) exec ./show"},
    {"./show $((1 + 2))", "exec ./show $((1 + 2))"},
    {"./show >out 2>&1", "exec ./show >out 2>&1"},
    {">out ./show a", ">out exec ./show a"},
    {"./show a\\ b \\; c", "exec ./show a\\ b \\; c"},
    {"./show a#b # c && d", "exec ./show a#b # c && d"},
    {"./show '' \"\" x", "exec ./show '' \"\" x"},
    {"./show A=1 if cd", "exec ./show A=1 if cd"},
    {"\"./show\" a", "exec \"./show\" a"},
    {"P=./show; $P a", "P=./show; exec $P a"},
    {"true && ./show *", "true && exec ./show *"},
    {"false && ./show", "false && exec ./show"},
    {"cd nowhere 2>/dev/null; ./show", "cd nowhere 2>/dev/null; exec ./show"},
    {"2=1 ./show", "exec 2=1 ./show"},
    /* nothing to put `exec` before */
    {"cd sub", "cd sub"},
    {"eval ./show", "eval ./show"},
    {"A=1", "A=1"},
    {"./show && . ./env", "./show && . ./env"},
    /* not understood */
    {"./show | cat", NULL},
    {"./show & wait", NULL},
    {"./show &", NULL},
    {"false || ./show", NULL},
    {"if true; then ./show; fi", NULL},
    {"true && for i in 1 2; do ./show $i; done", NULL},
    {"(cd sub && ../show)", NULL},
    {"{ ./show; }", NULL},
    {"! ./show", NULL},
    {"f() { ./show; }; f", NULL},
    {"case $A in x) ./show;; *) ./show y;; esac", NULL},
    {"cat <<E\nA\nE", NULL},
    {"./show\n./show 2", NULL},
    {"./show # it's the first\n./show don't", NULL},
    {"./show; # c\n./show 2", NULL},
    {"trap './show at the end' EXIT; ./show", NULL},
    {"exec ./show a; ./show b", NULL},
    {"./show 'a", NULL},
    {"./show \"a", NULL},
    {"./show $(a", NULL},
    {"./show ${a", NULL},
    {"./show `a", NULL},
    {"./show a \\", NULL},
    {"./show &&", NULL},
    {"./show && && ./show", NULL},
    {"; ./show", NULL},
    {"./show ;; ./show", NULL},
    {"./show >", NULL},
    {"./show $'a'", NULL},
    {"./show <(echo)", NULL},
    {"", NULL},
    {"# nothing", NULL},
};

/* Prints how it was called, and whether it replaced the shell. */
static const char show[] =
    "#!/bin/sh\n"
    "echo \"$# $PWD A=$A B=$B PORT=$PORT\"\n"
    "printf '<%s>\\n' \"$@\"\n"
    "[ $$ != \"$SHELL_PID\" ] || echo replaced >>\"$TOP/replaced\"\n";

static int begin(void **state)
{
    if (files_begin(state) != 0)
        return 1;
    files_mkdir("sub");
    files_program("show", show);
    files_put("env", "A='from env'\nexport A\n");
    setenv("TOP", files_dir, 1);
    return 0;
}

static void as_it_is_written(void **state)
{
    shell_line_t read;
    char *text;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        int good = shell_line_read(rows[i].line, &read);

        if (good != (rows[i].to != NULL))
            fail_msg("%s: %s", rows[i].line, good ? "understood" : "not");
        text = shell_line_exec(rows[i].line);
        assert_string_equal(text, good ? rows[i].to : rows[i].line);
        free(text);
    }
}

/* @return what sh prints and its exit code; the caller frees it */
static char *run(const char *line, int *replaced)
{
    static const char before[] = "SHELL_PID=$$; export SHELL_PID; ";
    char *text = calloc(1, 8192), *command;
    size_t n;
    FILE *f;

    assert_true(asprintf(&command, "%s%s", before, line) > 0);
    setenv("LINE", command, 1);
    free(command);
    unlink("replaced");
    unlink("out");
    f = popen("sh -c \"$LINE\" 2>/dev/null; echo $?; cat out 2>/dev/null", "r");
    assert_non_null(f);
    n = fread(text, 1, 8191, f);
    pclose(f);
    text[n] = 0;
    *replaced = access("replaced", F_OK) == 0;
    return text;
}

/* Whatever is understood does the same with `exec`, and replaces the shell. */
static void as_sh_runs_it(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        int is_same, replaced, is_run;
        char *old, *now;

        if (!rows[i].to || strcmp(rows[i].line, rows[i].to) == 0)
            continue;
        old = run(rows[i].line, &replaced);
        now = run(rows[i].to, &replaced);
        is_same = strcmp(old, now) == 0;
        if (!is_same)
            fail_msg("%s\n-- %s\n-- %s", rows[i].to, old, now);
        is_run = strncmp(now, "1\n", 2) != 0 && strncmp(now, "127", 3) != 0;
        if (is_run && !replaced)
            fail_msg("%s: the shell is still there", rows[i].to);
        free(old);
        free(now);
    }
}

static void parts(void **state)
{
    static const char line[] =
        "cd x && ./migrate --all 2>log; A=1 serve -b \"0:$P\" 'a b' # end";
    shell_line_t read;
    char word[32];

    (void)state;
    assert_true(shell_line_read(line, &read));
    assert_true(read.is_list && read.is_program && !read.has_exec);
    assert_memory_equal(line + read.first.at, "./migrate --all 2>log",
                        read.first.length);
    assert_memory_equal(line + read.begin, "A=1 serve", 9);
    assert_int_equal(read.n_words, 4);
    assert_memory_equal(line + read.program, "serve", 5);
    assert_string_equal(line + read.end, " # end");
    assert_true(shell_line_word(line, &read.words[3], word, sizeof word));
    assert_string_equal(word, "a b");
    assert_false(shell_line_word(line, &read.words[2], word, sizeof word));
    assert_string_equal(word, "");
    assert_true(shell_line_written(line, &read.words[2], word, sizeof word));
    assert_string_equal(word, "0:$P");
    assert_false(shell_line_written(line, &read.words[2], word, 4));
    assert_true(shell_line_read(
        "cd x && . ./env && A=1 && echo begins; printf ' %s' 1; serve", &read));
    assert_int_equal(read.first.length, 0);
}

/* Of a line that is not understood, the command before counts. */
static void parts_of_other_lines(void **state)
{
    static const struct {
        const char *line;
        size_t n;
    } cases[] = {
        {"a -w 4 x | tee y", 4}, {"cd a && b c || d", 2}, {"a b &", 2},
        {"if a; then b; fi", 0}, {"(cd x && a)", 0},      {"a b 'c", 2}};
    shell_line_t read;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(shell_line_read(cases[i].line, &read));
        assert_int_equal(read.n_words, cases[i].n);
    }
}

static void values(void **state)
{
    char value[8];

    (void)state;
    assert_true(shell_line_value("export A=1; A='2 3' b", "A", value, 8));
    assert_string_equal(value, "2 3");
    assert_true(shell_line_value("env A=\"$B\" A= b | c", "A", value, 8));
    assert_string_equal(value, "");
    assert_false(shell_line_value("AA=1 b 'A=2' $A=3", "A", value, 8));
    assert_false(shell_line_value("A=12345678 b", "A", value, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_it_is_written),
        cmocka_unit_test(as_sh_runs_it),
        cmocka_unit_test(parts),
        cmocka_unit_test(parts_of_other_lines),
        cmocka_unit_test(values),
    };

    return cmocka_run_group_tests(tests, begin, files_end);
}
