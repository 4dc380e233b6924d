/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/number_of.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "detect/detect_text.h"

#define UNKNOWN NUMBER_OF_UNKNOWN
#define NOT_SET (-2) /* a variable without a default */
#define DEEP    8    /* expressions within expressions */
#define NAME    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

typedef struct {
    const char *at;
    const char *text;
    number_of_variable_t *variable;
    void *context;
    int depth;
} reader_t;

static int read_value(reader_t *r);

/* ---- words of an expression ---- */

static void skip_blanks(reader_t *r)
{
    r->at += strspn(r->at, " \t");
}

/* @return 1: the text stands there, and is skipped */
static int take(reader_t *r, const char *text)
{
    size_t n = strlen(text);

    skip_blanks(r);
    if (strncmp(r->at, text, n) != 0)
        return 0;
    r->at += n;
    return 1;
}

/* @return 1: it stands there with a bracket behind it, and both are skipped */
static int take_call(reader_t *r, const char *name)
{
    const char *at = r->at;

    if (take(r, name) && take(r, "("))
        return 1;
    r->at = at;
    return 0;
}

static int take_digits(reader_t *r)
{
    size_t n = strspn(r->at, "0123456789"), i;
    int number = 0;

    if (n == 0 || n > 3 || (n > 1 && *r->at == '0'))
        return UNKNOWN;
    for (i = 0; i < n; i++)
        number = 10 * number + r->at[i] - '0';
    r->at += n;
    return number;
}

/* "NAME" or 'NAME'. @return 0: it is none */
static int take_name(reader_t *r, char name[DETECT_PATH_MAX])
{
    size_t n;
    char quote;

    skip_blanks(r);
    quote = *r->at;
    if (quote != '"' && quote != '\'')
        return 0;
    n = strspn(r->at + 1, NAME);
    if (n == 0 || n >= DETECT_PATH_MAX || r->at[n + 1] != quote)
        return 0;
    snprintf(name, DETECT_PATH_MAX, "%.*s", (int)n, r->at + 1);
    r->at += n + 2;
    return 1;
}

/* ---- variables ---- */

static int value_of(const reader_t *r, const char *name)
{
    const char *value = r->variable ? r->variable(r->context, name) : NULL;

    return value ? number_of_digits(value) : NOT_SET;
}

/* What is not set has the other value. */
static int either(int number, int otherwise)
{
    return number == NOT_SET ? otherwise : number;
}

/* ENV.fetch("X"), ENV.fetch("X", 5), ENV.fetch("X") { 5 } and those of Python,
 * behind the bracket */
static int read_fetch(reader_t *r)
{
    char name[DETECT_PATH_MAX];
    int number, otherwise = NOT_SET;

    if (!take_name(r, name))
        return UNKNOWN;
    number = value_of(r, name);
    if (take(r, ","))
        otherwise = read_value(r);
    if (!take(r, ")"))
        return UNKNOWN;
    if (take(r, "{")) {
        otherwise = read_value(r);
        if (!take(r, "}"))
            return UNKNOWN;
    }
    return either(number, otherwise);
}

/* ENV["X"], behind the bracket */
static int read_index(reader_t *r)
{
    char name[DETECT_PATH_MAX];

    return take_name(r, name) && take(r, "]") ? value_of(r, name) : UNKNOWN;
}

/* $X, ${X}, ${X:-5}, behind the $ */
static int read_dollar(reader_t *r)
{
    char name[DETECT_PATH_MAX];
    int has_bracket = *r->at == '{', number;
    size_t n;

    r->at += has_bracket;
    n = strspn(r->at, NAME);
    if (n == 0 || n >= sizeof name)
        return UNKNOWN;
    snprintf(name, sizeof name, "%.*s", (int)n, r->at);
    r->at += n;
    number = value_of(r, name);
    if (!has_bracket)
        return number;
    if (*r->at == ':')
        r->at++;
    if (*r->at == '-' || *r->at == '=') {
        r->at++;
        number = either(number, take_digits(r));
    }
    return take(r, "}") ? number : UNKNOWN;
}

/* A name that a line binds. The last line counts. */
static int read_bound(reader_t *r)
{
    char name[128], pattern[192], value[DETECT_PATH_MAX];
    size_t n = strspn(r->at, NAME);
    reader_t inner = *r;
    const char *line;
    int number;

    if (n == 0 || n >= sizeof name || !r->text)
        return UNKNOWN;
    snprintf(name, sizeof name, "%.*s", (int)n, r->at);
    r->at += n;
    snprintf(pattern, sizeof pattern, "^[[:blank:]]*%s *= *([^#;]*)", name);
    line = detect_text_last(r->text, pattern, value);
    if (!line || *line == ' ' || *line == '\t') /* it depends on something */
        return UNKNOWN;
    inner.at = value;
    number = read_value(&inner);
    return inner.at[strspn(inner.at, " \t\r")] ? UNKNOWN : number;
}

/* ---- expressions ---- */

static int read_bracket(reader_t *r)
{
    int number = read_value(r);

    return take(r, ")") ? number : UNKNOWN;
}

static int read_quoted(reader_t *r)
{
    char quote[2] = {*r->at++, 0};
    int number = take_digits(r);

    return take(r, quote) ? number : UNKNOWN;
}

static int read_one(reader_t *r)
{
    skip_blanks(r);
    if (take(r, "(") || take_call(r, "Integer") || take_call(r, "int"))
        return read_bracket(r);
    if (take_call(r, "ENV.fetch") || take_call(r, "os.environ.get") ||
        take_call(r, "os.getenv") || take_call(r, "environ.get") ||
        take_call(r, "getenv"))
        return read_fetch(r);
    if (take(r, "ENV[") || take(r, "os.environ["))
        return read_index(r);
    if (take(r, "$"))
        return read_dollar(r);
    if (*r->at == '"' || *r->at == '\'')
        return read_quoted(r);
    return isdigit((unsigned char)*r->at) ? take_digits(r) : read_bound(r);
}

/* With `.to_i`, and `|| 5` or `or 5` behind it. */
static int read_value(reader_t *r)
{
    int number;

    if (r->depth == DEEP)
        return UNKNOWN;
    r->depth++;
    number = read_one(r);
    if (!take(r, ".to_i"))
        take(r, "&.to_i");
    if (number != UNKNOWN && (take(r, "||") || take(r, "or ")))
        number = either(number, read_value(r));
    r->depth--;
    return number;
}

/* Behind the last comma that is in no bracket. */
static const char *last_of(const char *value)
{
    const char *last = value, *c;
    int depth = 0;

    for (c = value; *c; c++) {
        if (strchr("({[", *c))
            depth++;
        if (strchr(")}]", *c))
            depth--;
        if (*c == ',' && depth == 0)
            last = c + 1;
    }
    return last;
}

int number_of(const char *value, const char *text,
              number_of_variable_t *variable, void *context)
{
    reader_t r = {last_of(value), text, variable, context, 0};
    int number = read_value(&r);

    take(&r, ")"); /* of threads(1, 5) */
    r.at += strspn(r.at, " \t\r");
    return *r.at || number < 0 ? UNKNOWN : number;
}

int number_of_digits(const char *text)
{
    reader_t r = {text, NULL, NULL, NULL, 0};
    int number;

    skip_blanks(&r);
    number = take_digits(&r);
    skip_blanks(&r);
    return *r.at ? UNKNOWN : number;
}
