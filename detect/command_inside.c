/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "detect/command_inside.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect_text.h"
#include "detect/program_of.h"

#define SHELLS " sh bash dash ash zsh ksh "

/* The last command of a line. */
typedef struct {
    const char *line;
    shell_line_t read;
    program_of_t program;
} command_t;

static int read_command(const char *line, command_t *command)
{
    command->line = line;
    return shell_line_read(line, &command->read) &&
           program_of(line, &command->read, &command->program);
}

/* Skip the options of a shell.
 * @return the index of the first other word, which may be n_words */
static size_t skip_options(const command_t *command, int *has_c)
{
    size_t i = command->program.word + 1, n;
    char word[32];

    *has_c = 0;
    for (; i < command->read.n_words; i++) {
        if (!shell_line_word(command->line, &command->read.words[i], word,
                             sizeof word) ||
            (*word != '-' && *word != '+'))
            break;
        if (word[1] == '-')
            continue;
        n = strlen(word);
        *has_c |= strchr(word, 'c') != NULL;
        i += n > 1 && word[n - 1] == 'o'; /* -o pipefail */
    }
    return i;
}

int command_inside_c(const char *command, char text[COMMAND_INSIDE_MAX],
                     shell_part_t *word)
{
    command_t c;
    size_t i;
    int has_c;

    if (!read_command(command, &c) ||
        !shell_line_is_among(c.program.name, SHELLS))
        return 0;
    i = skip_options(&c, &has_c);
    if (!has_c || i >= c.read.n_words ||
        !shell_line_inner(command, &c.read.words[i], text, COMMAND_INSIDE_MAX))
        return 0;
    if (word)
        *word = c.read.words[i];
    return 1;
}

char *command_inside_quote(const char *line)
{
    char *text = malloc(4 * strlen(line) + 3), *to = text;

    if (!text)
        return NULL;
    *to++ = '\'';
    for (; *line; line++)
        if (*line == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *line;
    stpcpy(to, "'");
    return text;
}

/* ---- files ---- */

/* The path of a word, below the current directory. @return 0: it is not
 * there */
static int path_of(const command_t *command, size_t i, char *path, size_t size)
{
    char root[PATH_MAX];
    size_t n;

    if (i >= command->read.n_words ||
        !shell_line_word(command->line, &command->read.words[i], path, size))
        return 0;
    if (*path == '/' && getcwd(root, sizeof root)) {
        n = strlen(root);
        if (strncmp(path, root, n) == 0 && path[n] == '/')
            memmove(path, path + n + 1, strlen(path + n + 1) + 1);
    }
    if (strncmp(path, "./", 2) == 0)
        memmove(path, path + 2, strlen(path + 2) + 1);
    return *path && *path != '/';
}

/* The words of the command from one of them on. */
static const char *rest_of(const command_t *command, size_t i)
{
    return i < command->read.n_words ? command->line + command->read.words[i].at
                                     : "";
}

/* The last line of a script that is no comment, in `script`, which changes. */
static const char *last_line(char *script)
{
    char *line, *rest = NULL;
    const char *last = "";

    while ((line = strstr(script, "\\\n")) != NULL)
        memset(line, ' ', 2);
    for (line = strtok_r(script, "\r\n", &rest); line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (*line && *line != '#')
            last = line;
    }
    return last;
}

/* @param more the arguments of the script */
static int read_script(char *script, const char *more,
                       char text[COMMAND_INSIDE_MAX],
                       command_inside_file_t *file)
{
    const char *line = last_line(script);
    shell_line_t read;
    size_t n;

    if (!shell_line_read(line, &read) || !read.is_program)
        return 0;
    file->is_shell = 1;
    file->has_exec = read.has_exec;
    n = read.program;
    if (read.n_words == 1 && strncmp(line + n, "\"$@\"", 4) == 0)
        return snprintf(text, COMMAND_INSIDE_MAX, "%s", more) <
                   COMMAND_INSIDE_MAX &&
               *more;
    return snprintf(text, COMMAND_INSIDE_MAX, "%s", line) < COMMAND_INSIDE_MAX;
}

/* `#!/usr/bin/env node` and the words of the command. */
static int read_interpreter(const char *script, const char *words,
                            char text[COMMAND_INSIDE_MAX])
{
    const char *at = script + 2;

    at += strspn(at, " \t");
    if (strncmp(at, "/usr/bin/env -S ", 16) == 0)
        at += 16;
    return snprintf(text, COMMAND_INSIDE_MAX, "%.*s %s",
                    (int)strcspn(at, "\r\n"), at, words) < COMMAND_INSIDE_MAX;
}

static int read_file(const command_t *c, char text[COMMAND_INSIDE_MAX],
                     command_inside_file_t *file)
{
    size_t i = c->program.word;
    int has_c = 0, is_shell, done = 0;
    char *script;

    is_shell = shell_line_is_among(c->program.name, SHELLS);
    if (is_shell)
        i = skip_options(c, &has_c);
    /* Without a slash it would be searched in PATH. */
    if (has_c || !path_of(c, i, file->file, sizeof file->file) ||
        (!is_shell && !strchr(rest_of(c, i), '/')))
        return 0;
    script = detect_text_read(AT_FDCWD, file->file);
    if (!script || (!is_shell && strncmp(script, "#!", 2) != 0))
        *file->file = 0;
    else {
        file->has_cr = strstr(script, "\r\n") != NULL;
        done = is_shell ? read_script(script, rest_of(c, i + 1), text, file)
                        : read_interpreter(script, rest_of(c, i), text);
    }
    free(script);
    return done;
}

int command_inside_file(const char *command, char text[COMMAND_INSIDE_MAX],
                        command_inside_file_t *file)
{
    command_t c;

    memset(file, 0, sizeof *file);
    /* Behind `cd` the path would be another one. */
    return read_command(command, &c) &&
           !(c.read.is_list && memmem(command, c.read.begin, "cd ", 3)) &&
           read_file(&c, text, file);
}
