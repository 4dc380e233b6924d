/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_format.h
 * @brief How a line of an error log looks: as ErrorLogFormat says, or in
 *        httpd's own form. libc only.
 *
 * httpd has read ErrorLogFormat (mod_apppool/config/error_format.h), and gives
 * a text in which these stand for what differs from line to line:
 *
 *     %M          the message, once
 *     %l          the level
 *     %P          the number of the process that writes the line
 *     %t %u %c %C the time: as httpd's %t, %{u}t, %{c}t and %{cu}t
 *     %z          its distance from GMT, +hhmm
 *     %{FORMAT}   the time as strftime(3) writes it
 *     %%          a percent sign
 *
 * Trust: a text of any content makes a line that fits.
 */
#ifndef APPPOOL_SYSTEM_LOG_FORMAT_H
#define APPPOOL_SYSTEM_LOG_FORMAT_H

#include <stddef.h>

/** Levels, as httpd numbers them. */
enum { LOG_ERROR = 3, LOG_WARN, LOG_NOTICE, LOG_INFO };

/** What a line says. */
typedef struct {
    int level;          /**< LOG_ERROR ... */
    const char *prefix; /**< "shop[4711]> "; "": none */
    const char *text;   /**< it is escaped: log_format_escape() */
    size_t length;
} log_message_t;

/**
 * Make a line, without its newline. The text is cut if it does not fit.
 * @param format NULL: httpd's own form
 * @return bytes written to `to`, without the NUL; less than size
 */
size_t log_format_line(const char *format, const log_message_t *message,
                       char *to, size_t size);

/** Make a line for a log that is no error log: "[time] shop[4711]> text". */
size_t log_format_bare(const log_message_t *message, char *to, size_t size);

/**
 * Copy text so that it stays on one line.
 * @return bytes written to `to`, without the NUL; less than size
 */
size_t log_format_escape(char *to, size_t size, const char *from,
                         size_t length);

#endif
