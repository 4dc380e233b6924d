/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/python_line.h"

#include <stdio.h>
#include <string.h>

#define NAME   PYTHON_LINE_NAME
#define BLANKS " \t"

/* Only these lines are looked at: a file of short lines has thousands, and
 * there are a hundred questions.
 * @param from the begin of a line
 * @return the next line that has the word somewhere; NULL: there is none */
static const char *line_with(const char *from, const char *word)
{
    const char *at = strstr(from, word), *end;

    end = at ? memrchr(from, '\n', (size_t)(at - from)) : NULL;
    return end ? end + 1 : at ? from : NULL;
}

/* The next line that has the word. */
static const char *next_with(const char *line, const char *word)
{
    line = strchr(line, '\n');
    return line ? line_with(line + 1, word) : NULL;
}

static int is_part(char c)
{
    return c && strchr(NAME, c);
}

static const char *skip(const char *at, const char *characters)
{
    return at + strspn(at, characters);
}

/* @return what comes behind the word and blanks; NULL: the text does not begin
 * with this word */
static const char *behind(const char *at, const char *word)
{
    size_t n = strlen(word);

    return at && strncmp(at, word, n) == 0 && !is_part(at[n])
               ? skip(at + n, BLANKS)
               : NULL;
}

static void copy(char to[DETECT_PATH_MAX], const char *from, size_t n)
{
    snprintf(to, DETECT_PATH_MAX, "%.*s", (int)n, from);
}

/* ---- imports ---- */

/* Before the module there may be others with commas. */
static int imports(const char *line, const char *module)
{
    const char *at = skip(line, BLANKS), *from = behind(at, "from");
    size_t n = strlen(module);

    for (at = from ? from : behind(at, "import"); at;
         at = *at == ',' ? skip(at + 1, BLANKS) : NULL) {
        if (strncmp(at, module, n) == 0 && !is_part(at[n]))
            return 1;
        at = skip(at, NAME " ");
    }
    return 0;
}

int python_line_imports(const char *text, const char *module)
{
    const char *line = line_with(text, module);

    while (line && !imports(line, module))
        line = next_with(line, module);
    return line != NULL;
}

static int has_name(const char *line, const char *name)
{
    size_t n, length = strlen(name);

    for (; *line && *line != '\n'; line += n > 0 ? n : 1) {
        n = strspn(line, NAME);
        if (n > 0 && n == length && memcmp(line, name, n) == 0)
            return 1;
    }
    return 0;
}

int python_line_from(const char *text, const char *name,
                     char module[DETECT_PATH_MAX], char other[DETECT_PATH_MAX])
{
    const char *line = line_with(text, name), *from, *at, *as;
    size_t n;

    for (; line; line = next_with(line, name)) {
        from = behind(line, "from");
        n = from ? strspn(from, NAME ".") : 0;
        at = n > 0 ? behind(skip(from + n, BLANKS), "import") : NULL;
        if (!at || !has_name(at, name))
            continue;
        copy(module, from, n);
        n = strspn(at, NAME);
        as = behind(behind(skip(at + n, BLANKS), "as"), name);
        if (as && strchr("\r\n#", *as))
            copy(other, at, n);
        else
            copy(other, name, strlen(name));
        return 1;
    }
    return 0;
}

/* ---- what is bound ---- */

/* Behind the type of a name, which may have brackets.
 * @param ends of the type; with brackets and the end of line */
static const char *skip_type(const char *at, const char *ends)
{
    int depth = 0;

    for (;; at++) {
        at += strcspn(at, depth > 0 ? "[]\n" : ends);
        if (*at != '[' && *at != ']')
            return at;
        depth += *at == '[' ? 1 : -1;
    }
}

/* @param at behind a name
 * @return the value that the line binds it to, behind other names in
 *         `api = application = falcon.API()`; NULL: none that begins with a
 *         name */
static const char *value_of(const char *at)
{
    const char *next;

    at = skip(at, BLANKS);
    if (*at == ':')
        at = skip_type(at, "=[]\n");
    if (*at != '=')
        return NULL;
    for (next = at; *next == '=' && next[1] != '=';
         next = skip(skip(at, NAME), BLANKS))
        at = skip(next + 1, BLANKS);
    return is_part(*at) && (*at < '0' || *at > '9') ? at : NULL;
}

int python_line_binds(const char *text, const char *name,
                      char value[DETECT_PATH_MAX])
{
    const char *line = line_with(text, name), *at = NULL, *last, *next;

    for (; line && !at; line = next_with(line, name)) {
        at = behind(line, name);
        at = at ? value_of(at) : NULL;
    }
    copy(value, at ? at : "", at ? strcspn(at, "\r\n#") : 0);
    if (!at)
        return 0;
    /* Of config.scan().make_wsgi_app() the last call makes it. */
    last = strstr(value, ").");
    for (next = last; next; next = strstr(next + 2, ")."))
        last = next;
    if (last)
        memmove(value, last + 2, strlen(last + 2) + 1);
    value[strcspn(value, "(" BLANKS)] = 0;
    return 1;
}

/* Is CONSTRUCTOR( called, or MODULE.CONSTRUCTOR(? */
static int is_call_of(const char *at, const char *constructor)
{
    size_t length = strlen(constructor), n = strspn(at, NAME ".");

    return n >= length && memcmp(at + n - length, constructor, length) == 0 &&
           (n == length || at[n - length - 1] == '.') &&
           *skip(at + n, " ") == '(';
}

int python_line_made_by(const char *text, const char *constructor,
                        char name[DETECT_PATH_MAX])
{
    const char *line = line_with(text, constructor), *value;
    size_t n;

    for (; line; line = next_with(line, constructor)) {
        n = *line < '0' || *line > '9' ? strspn(line, NAME) : 0;
        value = n > 0 ? value_of(line + n) : NULL;
        if (!value || !is_call_of(value, constructor))
            continue;
        copy(name, line, n);
        return 1;
    }
    return 0;
}

int python_line_calls(const char *text, const char *name)
{
    const char *at = text;
    size_t n = strlen(name);

    for (; (at = strstr(at, name)) != NULL; at += n)
        if ((at == text || !is_part(at[-1])) && *skip(at + n, " ") == '(')
            return 1;
    return 0;
}

/* ---- functions ---- */

/* @param at behind the parenthesis */
static int has_default(const char *at)
{
    size_t n;

    at = skip(at, BLANKS "\r\n");
    if (*at == '*' || *at == ')')
        return 1;
    n = strspn(at, NAME);
    at = skip(at + n, " ");
    if (*at == ':')
        at = skip_type(at, "=,)[]\n");
    return n > 0 && *at == '=';
}

python_line_function_t python_line_function(const char *text, const char *name,
                                            int *is_callable)
{
    const char *line = line_with(text, name), *async, *at;

    for (; line; line = next_with(line, name)) {
        async = behind(line, "async");
        at = behind(behind(async ? async : line, "def"), name);
        if (!at || *at != '(')
            continue;
        if (is_callable)
            *is_callable = has_default(at + 1);
        return async ? PYTHON_LINE_ASYNC : PYTHON_LINE_DEF;
    }
    return PYTHON_LINE_NONE;
}
