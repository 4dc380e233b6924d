/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Numbers in lines of configuration files, and what only looks like one. */

#include "detect/number_of.h"

#include <string.h>

#include "tests/unit/support/scene.h"

#define NO NUMBER_OF_UNKNOWN

/* SET is 7, ZERO is 08, WORD is auto, EMPTY is empty. */
static const char *value_of(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "SET") == 0     ? "7"
           : strcmp(name, "ZERO") == 0  ? "08"
           : strcmp(name, "WORD") == 0  ? "auto"
           : strcmp(name, "EMPTY") == 0 ? ""
                                        : NULL;
}

static const char text[] = "import os\n"
                           "two = 2 # of them\n"
                           "twice = 3\ntwice = 4\n"
                           "threads_count = ENV.fetch(\"X\") { two }\n"
                           "if os:\n    perhaps = 5\n"
                           "loop = loop\n"
                           "a = b\nb = c\nc = d\nd = e\ne = f\nf = g\ng = h\n"
                           "h = 1\n"
                           "odd = 2 * 3\r\n"
                           "windows = 6\r\n"
                           "# comment = 5\n";

static const struct {
    const char *value;
    int number;
} rows[] = {
    {"5", 5},
    {" 5 \t", 5},
    {"0", 0},
    {"999", 999},
    {"1, 5", 5},
    {"1, 5)", 5},
    {"(5)", 5},
    {"\"5\"", 5},
    {"Integer(\"5\")", 5},
    {"ENV.fetch(\"X\") { 5 }", 5},
    {"ENV.fetch(\"X\", 5)", 5},
    {"ENV.fetch('X', '5').to_i", 5},
    {"ENV.fetch(\"SET\") { 5 }", 7},
    {"1, ENV.fetch(\"X\", 5)", 5},
    {"Integer(ENV['X'] || 5)", 5},
    {"Integer(ENV['SET'] || 5)", 7},
    {"(ENV[\"X\"] || 5).to_i", 5},
    {"ENV['X']&.to_i || 5", 5},
    {"ENV['X'] || ENV['SET'] || 5", 7},
    {"ENV.fetch(\"X\") { ENV.fetch(\"SET\", 4) }", 7},
    {"ENV.fetch(\"X\", two)", 2},
    {"int(os.environ.get(\"X\", \"5\"))", 5},
    {"int(os.environ['SET'])", 7},
    {"int(os.getenv('X') or 5)", 5},
    {"int( os.getenv( 'X' , 5 ) )", 5},
    {"$SET", 7},
    {"${SET}", 7},
    {"${X:-5}", 5},
    {"${X-5}", 5},
    {"${SET:-5}", 7},
    {"two", 2},
    {"twice, twice", 4},
    {"threads_count", 2},
    {"windows", 6},
    /* not known */
    {"", NO},
    {"-4", NO},
    {"+4", NO},
    {"010", NO},
    {"0x10", NO},
    {"1_0", NO},
    {"4.5", NO},
    {"1e2", NO},
    {"1000", NO},
    {"99999999999999999999", NO},
    {"5 if production", NO},
    {"5 * 2", NO},
    {"2 * Integer(ENV[\"SET\"])", NO},
    {"Integer(ENV.fetch(\"SET\")) * 2", NO},
    {"int(os.environ.get(\"X\", \"4\")) + 1", NO},
    {"multiprocessing.cpu_count() * 2 + 1", NO},
    {"Etc.nprocessors", NO},
    {"ENV.fetch(\"X\") { Etc.nprocessors }", NO},
    {"ENV.fetch(\"X\") { 5 } * 2", NO},
    {"ENV.fetch(\"X\")", NO},
    {"ENV[\"X\"].to_i", NO},
    {"[ENV[\"SET\"].to_i, 5].max", NO},
    {"ENV[\"RAILS_ENV\"] == \"production\" ? 4 : 0", NO},
    {"ENV.fetch(\"WORD\", 5)", NO},
    {"ENV.fetch(\"ZERO\", 5)", NO},
    {"ENV.fetch(\"EMPTY\", 5)", NO},
    {"ENV.fetch(\"X\", 5", NO},
    {"ENV.fetch(\"A B\", 5)", NO},
    {"Integer(ENV[\"X\"] || 5", NO},
    {"$X", NO},
    {"${X", NO},
    {"${SET:-5", NO},
    {"$(nproc)", NO},
    {"$((2 * 2))", NO},
    {"`nproc`", NO},
    {":auto", NO},
    {"nil", NO},
    {"perhaps", NO},
    {"comment", NO},
    {"loop", NO},
    {"odd", NO},
    {"a", NO}, /* as deep as nobody writes it */
    {"((((((((((5))))))))))", NO},
    {"\"5", NO},
    {"two three", NO},
};

static void each_row(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (number_of(rows[i].value, text, value_of, NULL) != rows[i].number)
            fail_msg("%s: %d", rows[i].value,
                     number_of(rows[i].value, text, value_of, NULL));
    assert_int_equal(number_of("two", NULL, NULL, NULL), NO);
    assert_int_equal(number_of("$SET", NULL, NULL, NULL), NO);
}

static void digits(void **state)
{
    (void)state;
    assert_int_equal(number_of_digits(" 3 "), 3);
    assert_int_equal(number_of_digits("3 4"), NO);
    assert_int_equal(number_of_digits("$SET"), NO);
    assert_int_equal(number_of_digits(""), NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
