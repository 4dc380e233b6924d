/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_inside.h
 * @brief The line that names the program, where the command itself does not:
 *        `bash -lc 'gunicorn shop:app'`, and ./start.sh, whose last line is
 *        `exec gunicorn shop:app`.
 */
#ifndef APPPOOL_DETECT_COMMAND_INSIDE_H
#define APPPOOL_DETECT_COMMAND_INSIDE_H

#include "detect/shell_line.h"

#define COMMAND_INSIDE_MAX 1024 /* of a line; a longer one is none */

/** What `sh -c` of the last command runs. No file is read.
 * @param text filled in: the line, as that shell reads it
 * @param word filled in: where it stands in the command; or NULL
 * @return 0: it is no such command, or the line depends on more than
 * variables */
int command_inside_c(const char *command, char text[COMMAND_INSIDE_MAX],
                     shell_part_t *word);

/** LINE as one word of a command. @return malloc(); NULL: no memory */
char *command_inside_quote(const char *line);

/** What is known of a script. */
typedef struct {
    char file[128];
    int is_shell; /**< the line is the last one of a script of the shell;
                       otherwise it is the interpreter with its arguments */
    int has_exec; /**< the line has `exec` */
    int has_cr;   /**< lines end as those of Windows do */
} command_inside_file_t;

/** What a script runs that the last command names: `#!/usr/bin/env node`, or
 * the last line of a script of the shell. It reads the file below the current
 * directory, as detect_text.h does. @return 0: it is no script, or its last
 * line is not understood; then only `file` and `has_cr` count, file "": no
 * script */
int command_inside_file(const char *command, char text[COMMAND_INSIDE_MAX],
                        command_inside_file_t *file);

#endif
