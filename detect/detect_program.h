/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_program.h
 * @brief What is known of a command by its program: how many requests it takes
 *        at once, and what the module does for its language. The words of the
 *        command count, and what they mean by default: variables and a
 *        configuration file. A number that cannot be read is 1.
 *
 * Trust: the command is text of the administrator or of the app. It is not
 *        expanded, and nothing is executed.
 */
#ifndef APPPOOL_DETECT_DETECT_PROGRAM_H
#define APPPOOL_DETECT_DETECT_PROGRAM_H

#include "detect/detect_found.h"
#include "detect/program_of.h"

/** Fill in suitable, counted, children, runs_node and runs_ruby. */
void detect_program_know(const char *command, const detect_config_t *config,
                         detect_found_t *found);

/** How many worker processes does the server of a command start? Its words and
 * the variables say it; no file is read.
 * @param name filled in, if that is more than one: the option or the variable
 * @return 1 if it is not known */
int detect_program_workers(const char *command, const detect_config_t *config,
                           const char **name);

/** @return PROGRAM_* (program_of.h), also of a program of node_modules/.bin */
int detect_program_is(const char *command);

/** Is it php-cgi, of any version? It speaks FastCGI only. No file is read. */
int detect_program_is_php(const char *command);

/** Does a virtual environment decide about the program? A command that names
 * its program by an absolute path has chosen another Python. */
int detect_program_is_python(const char *command);

#endif
