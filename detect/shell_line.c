/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/shell_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS     " \t"
#define ENDS       " \t\n;&|()<>" /* an unquoted word */
#define DEEP       8              /* substitutions within substitutions */
#define NAME_BEGIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define NAME       NAME_BEGIN "0123456789"

/* Words at the begin of a command that make it another one, and `trap`: what it
 * says is done by the shell, when the program has ended. */
static const char *const reserved[] = {
    "if", "then", "else", "elif",     "fi",     "for",    "while", "until",
    "do", "in",   "done", "case",     "esac",   "{",      "}",     "!",
    "[[", "]]",   "time", "function", "select", "coproc", "trap",  NULL};

/* What is no program, so that `exec` would not find it or change its effect.
 * These take no time. */
static const char *const quick[] = {
    "cd",    "export",  ".",      "source", "unset", "set",
    "umask", "ulimit",  ":",      "true",   "test",  "[",
    "alias", "unalias", "hash",   "local",  "shopt", "readonly",
    "pwd",   "echo",    "printf", NULL};
static const char *const others[] = {
    "wait",     "eval",    "exit",    "return", "shift",   "read",    "break",
    "continue", "command", "builtin", "false",  "kill",    "jobs",    "bg",
    "fg",       "getopts", "times",   "type",   "declare", "typeset", NULL};

static int is_one_of(const char *at, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && memcmp(*list, at, length) == 0)
            return 1;
    return 0;
}

/* ---- words: each function gets the begin of a part, and @return its end;
 * NULL: it is not understood ---- */

static const char *skip_double(const char *at, int depth);

static const char *skip_single(const char *at)
{
    at = strchr(at + 1, '\'');
    return at ? at + 1 : NULL;
}

static const char *skip_back(const char *at)
{
    for (at++; *at && *at != '`'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : NULL;
}

/* A quote, a backslash or a substitution; any other character is one step. */
static const char *skip_one(const char *at, int depth);

/* $(...) and ${...}, from the bracket on. A `)` may also end a pattern of case,
 * and a comment may have quotes. */
static const char *skip_bracket(const char *at, char close, int depth)
{
    int open = close == ')' ? '(' : '{', n = 0;

    if (depth == DEEP)
        return NULL;
    while (at && *at) {
        if (*at == open)
            n++;
        if (*at == close && --n == 0)
            return at + 1;
        if (close == ')' &&
            (strncmp(at, "case", 4) == 0 || strncmp(at, " #", 2) == 0 ||
             strncmp(at, "<<", 2) == 0 || *at == '\n'))
            return NULL;
        at = skip_one(at, depth + 1);
    }
    return NULL;
}

static const char *skip_dollar(const char *at, int depth)
{
    return at[1] == '('                    ? skip_bracket(at + 1, ')', depth)
           : at[1] == '{'                  ? skip_bracket(at + 1, '}', depth)
           : at[1] == '\'' || at[1] == '"' ? NULL /* bash knows these */
                                           : at + 1;
}

static const char *skip_double(const char *at, int depth)
{
    for (at++; at && *at != '"';)
        at = !*at          ? NULL
             : *at == '\\' ? at[1] ? at + 2 : NULL
             : *at == '`'  ? skip_back(at)
             : *at == '$' && at[1] != '"' && at[1] != '\''
                 ? skip_dollar(at, depth)
                 : at + 1;
    return at ? at + 1 : NULL;
}

static const char *skip_one(const char *at, int depth)
{
    switch (*at) {
    case '\\':
        return at[1] && at[1] != '\n' ? at + 2 : NULL;
    case '\'':
        return skip_single(at);
    case '"':
        return skip_double(at, depth);
    case '`':
        return skip_back(at);
    case '$':
        return skip_dollar(at, depth);
    default:
        return at + 1;
    }
}

static const char *skip_word(const char *at)
{
    while (at && *at && !strchr(ENDS, *at))
        at = skip_one(at, 0);
    return at && *at == '(' ? NULL : at;
}

/* `2>&1`, `>file`. @param at behind the number */
static const char *skip_redirection(const char *at)
{
    const char *word;

    if (strncmp(at, "<<", 2) == 0 || strncmp(at, "<(", 2) == 0 ||
        strncmp(at, ">(", 2) == 0)
        return NULL;
    at++;
    if (*at && strchr(">&|", *at))
        at++;
    at += strspn(at, BLANKS);
    word = skip_word(at);
    return word == at ? NULL : word;
}

/* ---- commands ---- */

int shell_line_assigns(const char *text)
{
    size_t n = strspn(text, NAME);

    return n > 0 && (*text < '0' || *text > '9') && text[n] == '=';
}

static int add_word(const char *line, shell_line_t *read, size_t at,
                    size_t length)
{
    const char *word = line + at;

    if (read->n_words == 0) {
        if (!read->has_exec && shell_line_assigns(word))
            return 1;
        if (is_one_of(word, length, reserved))
            return 0;
        if (length == 4 && memcmp(word, "exec", 4) == 0) {
            read->has_exec = 1;
            return 1;
        }
        read->program = at;
        read->is_program =
            !is_one_of(word, length, quick) && !is_one_of(word, length, others);
    }
    if (read->n_words < SHELL_LINE_WORDS)
        read->words[read->n_words++] = (shell_part_t){at, length};
    return 1;
}

/* The command is not the last one. @return 0: nothing runs behind it */
static int end_command(const char *line, shell_line_t *read)
{
    read->is_list = 1;
    if (read->first.length == 0 && read->n_words > 0 &&
        !is_one_of(line + read->words[0].at, read->words[0].length, quick))
        read->first = (shell_part_t){read->begin, read->end - read->begin};
    return !read->has_exec;
}

/* A word or a redirection. @return its end; NULL: not understood */
static const char *take(const char *line, const char *at, shell_line_t *read)
{
    const char *from = at + strspn(at, "0123456789"), *end;

    if (*from == '<' || *from == '>')
        end = skip_redirection(from);
    else {
        end = skip_word(at);
        if (end &&
            !add_word(line, read, (size_t)(at - line), (size_t)(end - at)))
            return NULL;
    }
    if (end)
        read->end = (size_t)(end - line);
    return end;
}

/* No command follows. A comment that ends before the line does is no end. */
static int is_end(const char *at)
{
    return !*at || (*at == '#' && !strchr(at, '\n'));
}

/* Read a command. @return its end: an operator, or the end of the line */
static const char *read_command(const char *line, const char *at,
                                shell_line_t *read)
{
    at += strspn(at, BLANKS);
    read->begin = read->end = (size_t)(at - line);
    read->n_words = 0;
    read->has_exec = read->is_program = 0;
    while (at && !is_end(at) && !strchr("\n;&|()", *at)) {
        at = *at == '#' ? NULL : take(line, at, read);
        if (at)
            at += strspn(at, BLANKS);
    }
    if (read->n_words == 0)
        read->program = read->end;
    return at;
}

int shell_line_read(const char *line, shell_line_t *read)
{
    const char *at = line;

    memset(read, 0, sizeof *read);
    for (;;) {
        at = read_command(line, at, read);
        if (!at || read->end == read->begin)
            return 0;
        if (is_end(at) ||
            (*at == ';' && is_end(at + 1 + strspn(at + 1, BLANKS))))
            return 1;
        if (!end_command(line, read))
            return 0;
        if (strncmp(at, "&&", 2) == 0)
            at += 2;
        else if (*at == ';' && at[1] != ';')
            at++;
        else
            return 0;
    }
}

char *shell_line_exec(const char *line)
{
    shell_line_t read;
    char *text;

    if (!shell_line_read(line, &read) || read.has_exec || !read.is_program)
        return strdup(line);
    if (asprintf(&text, "%.*sexec %s", (int)read.program, line,
                 line + read.program) < 0)
        return NULL;
    return text;
}

size_t shell_line_find(const char *line, size_t from, const char *name)
{
    const char *at = line, *end;
    size_t n = strlen(name);

    while (at && *at) {
        at += strspn(at, ENDS);
        if (at >= line + from && strncmp(at, name, n) == 0 && at[n] == '=')
            return (size_t)(at - line);
        end = skip_word(at);
        if (end == at)
            break;
        at = end;
    }
    return (size_t)-1;
}

/* What is done with a backslash or a substitution: refuse it, copy it as it is
 * written, or do what a shell does, but with variables in double quotes
 * only. */
typedef enum { PLAIN, WRITTEN, INNER } how_t;

static int is_variable(const char *at, char quote)
{
    return *at == '$' && quote == '"' && at[1] && strchr(NAME_BEGIN "{", at[1]);
}

static int copy(const char *line, const shell_part_t *word, how_t how,
                char *text, size_t size)
{
    const char *at = line + word->at, *end = at + word->length;
    size_t n = 0;
    char quote = 0;

    for (*text = 0; at < end; at++) {
        if ((*at == '\'' || *at == '"') && (!quote || quote == *at)) {
            quote = quote ? 0 : *at;
            continue;
        }
        if (how != WRITTEN && quote != '\'' && strchr("\\$`", *at)) {
            if (how == PLAIN || (*at != '\\' && !is_variable(at, quote)))
                break;
            at += *at == '\\' && (!quote || strchr("\\\"$`", at[1]));
        }
        if (n + 1 == size)
            break;
        text[n++] = *at;
    }
    text[at < end ? 0 : n] = 0;
    return at >= end;
}

int shell_line_word(const char *line, const shell_part_t *word, char *text,
                    size_t size)
{
    return copy(line, word, PLAIN, text, size);
}

int shell_line_written(const char *line, const shell_part_t *word, char *text,
                       size_t size)
{
    return copy(line, word, WRITTEN, text, size);
}

int shell_line_inner(const char *line, const shell_part_t *word, char *text,
                     size_t size)
{
    return copy(line, word, INNER, text, size);
}

int shell_line_value(const char *line, const char *name, char *text,
                     size_t size)
{
    size_t at, next = 0, n = strlen(name) + 1;
    const char *end = NULL;
    shell_part_t value = {0, 0};

    while ((at = shell_line_find(line, next, name)) != (size_t)-1) {
        value.at = next = at + n;
        end = skip_word(line + next);
    }
    if (!end)
        return 0;
    value.length = (size_t)(end - line) - value.at;
    return copy(line, &value, WRITTEN, text, size);
}

int shell_line_is_among(const char *word, const char *words)
{
    size_t n = strlen(word);
    const char *at = words;

    while (n > 0 && (at = strstr(at, word)) != NULL) {
        if (at > words && at[-1] == ' ' && at[n] == ' ')
            return 1;
        at++;
    }
    return 0;
}
