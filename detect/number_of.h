/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file number_of.h
 * @brief The number that an expression of Ruby, Python or the shell has: 5,
 *        ENV.fetch("X") { 5 }, Integer(ENV['X'] || 5), int(os.getenv("X",
 *        "5")), ${X:-5}, or a name that a line of the same file binds to such a
 *        value.
 *
 * Only these forms are read. Whatever else stands there, `* 2` or `if` for
 * example, may change the number, so the number is not known. A number that
 * begins with a zero is not known either: it is octal in some languages. One
 * above 999 is taken for a mistake.
 */
#ifndef APPPOOL_DETECT_NUMBER_OF_H
#define APPPOOL_DETECT_NUMBER_OF_H

#define NUMBER_OF_UNKNOWN (-1)

/** @return the value of a variable of the environment; NULL: it is not set */
typedef const char *number_of_variable_t(void *context, const char *name);

/**
 * @param value the expression; of several with commas the last counts, as in
 *              `threads 1, 5`
 * @param text  of the file, for the names; NULL: there is none
 * @return 0 to 999, or NUMBER_OF_UNKNOWN
 */
int number_of(const char *value, const char *text,
              number_of_variable_t *variable, void *context);

/** A number and nothing else. */
int number_of_digits(const char *text);

#endif
