/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file shell_line.h
 * @brief Reads a line of the shell, as it stands in a Procfile, an AppCommand
 *        or a package.json: finds its last command, and puts `exec` before it.
 *
 * Without `exec`, most shells run the last command of a list as a child
 * process. Then the process of the pool is a shell, which does not pass signals
 * on, and a server does not take a socket that was made for another pid.
 *
 * It knows words, quotes, substitutions, redirections, assignments, `;` and
 * `&&`. A line with anything else (a pipe, `&`, `||`, `if`, a here-document) is
 * not understood, and has to be left as it is.
 */
#ifndef APPPOOL_DETECT_SHELL_LINE_H
#define APPPOOL_DETECT_SHELL_LINE_H

#include <stddef.h>

#define SHELL_LINE_WORDS 64 /**< of the last command; others are not listed */

/** A part of the line, with its quotes. */
typedef struct {
    size_t at, length;
} shell_part_t;

/** The last command of a line. */
typedef struct {
    int is_list;        /**< other commands come before it */
    shell_part_t first; /**< the first of these that is a program or not known,
                             and no builtin like `cd` or `export`; length 0:
                             there is none */
    size_t begin;       /**< its assignments, or its first word */
    size_t program;     /**< its first word behind them and behind `exec`; or
                             `end` */
    size_t end;         /**< behind its last word or redirection */
    int has_exec;       /**< the line has `exec` there */
    int is_program;     /**< the first word is no builtin, so `exec` may stand
                             before it */
    size_t n_words;     /**< from `program` on, without redirections */
    shell_part_t words[SHELL_LINE_WORDS];
} shell_line_t;

/** @return 0: the line is not understood. Of `read`, only `begin` and the words
 * count: of the command before what is not understood, as far as they were
 * read */
int shell_line_read(const char *line, shell_line_t *read);

/** The line with `exec` before its last program.
 * @return malloc(); NULL: no memory */
char *shell_line_exec(const char *line);

/** Copy a word without its quotes. @return 0: it has a substitution or a
 * backslash, or is too long, and `text` is "" */
int shell_line_word(const char *line, const shell_part_t *word, char *text,
                    size_t size);

/** Copy a word without its quotes; a substitution stays as it is written:
 * ${PORT:-80}.
 * @return 0: it is too long, and `text` is "" */
int shell_line_written(const char *line, const shell_part_t *word, char *text,
                       size_t size);

/** Find where a variable is assigned to, in any command of the line, or among
 * the arguments of `export` and `env`. This also looks at lines that are not
 * understood. @return where its name begins, not before `from`; (size_t)-1:
 * nowhere */
size_t shell_line_find(const char *line, size_t from, const char *name);

/** What the shell makes of a word that has no other substitution than variables
 * in double quotes. These stay as they are written: another shell may put them
 * in. @return 0: it has others, or is too long, and `text` is "" */
int shell_line_inner(const char *line, const shell_part_t *word, char *text,
                     size_t size);

/** The value that a line assigns to a variable, where shell_line_find() finds
 * it last, as shell_line_written() has it. @return 0: nowhere */
int shell_line_value(const char *line, const char *name, char *text,
                     size_t size);

/** Is a word one of several? @param words with blanks between, before and
 * behind */
int shell_line_is_among(const char *word, const char *words);

/** Does the text assign to a variable (NAME=...)? */
int shell_line_assigns(const char *text);

#endif
