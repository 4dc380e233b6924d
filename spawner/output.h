/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file output.h
 * @brief What apps write to stdout and stderr: line by line into AppLog or
 *        httpd's error log; the last lines are kept while an app boots.
 *
 * Errors: an output that cannot be written is lost; nothing waits for a log.
 * Trust:  bytes of the app's; control characters are escaped, lines of more
 *         than 8 KB cut.
 */
#ifndef APPPOOL_OUTPUT_H
#define APPPOOL_OUTPUT_H

#include <stddef.h>

struct process;

/** Of one process; zeroed at first. */
typedef struct {
    char *partial; /**< a line that has no end yet */
    size_t length;
    int cut;    /**< the rest of this line is left out */
    char *tail; /**< last lines; NULL: none are kept */
    size_t tail_length;
} output_t;

/** Keep the last lines from now on. */
void output_keep(output_t *output);

/** They are of no use any more. */
void output_forget_tail(output_t *output);

/** Free all that is kept. */
void output_forget(output_t *output);

/**
 * Read what is there and write it to the log.
 * @return 0: nobody has the FIFO open any more
 */
int output_drain(struct process *p);

/** A last line without end, too. */
void output_finish(struct process *p);

/** Open an AppLog to append to. @return descriptor, or -1 with errno */
int output_open(const char *path, unsigned uid, unsigned gid);

#endif
