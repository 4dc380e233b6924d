/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log.h
 * @brief Lines for httpd's error log, in its own style. libc only.
 *
 *     [Sat Nov 21 06:54:17.123456 2026] [apppool:notice] [pid 12] apppool: ...
 *
 * The log is found by the symbolic link `errorlog` of the runtime directory,
 * and opened for each line, so it may be rotated at any time. If it cannot be
 * opened, for example because it is too early, lines go to CONTRACT_LOG_FD.
 * The link `errorformat` has ErrorLogFormat. httpd has read that
 * (mod_apppool/config/error_format.h), and gives a text in which these stand
 * for what differs from line to line:
 *
 *     %M          the message, once
 *     %l          the level
 *     %P          the number of the process that writes the line
 *     %t %u %c %C the time: as httpd's %t, %{u}t, %{c}t and %{cu}t
 *     %z          its distance from GMT, +hhmm
 *     %{FORMAT}   the time as strftime(3) writes it
 *     %%          a percent sign
 *
 * A line is written if the LogLevel of httpd lets it through. A notice is
 * always written, as in httpd. Each call of log_line() in the source is a kind
 * of line. LOG_BURST lines of each kind are written at once, and LOG_RATE a
 * second. The others are dropped, and a line says how many.
 *
 * Errors: nothing waits for the log. When a line cannot be written, for example
 *         because the disk is full, a later line says how many were lost.
 * Trust: the text of a line may come from anywhere. Control characters are
 *        written as \xNN, so one call is one line. An app or a client that
 *        causes lines without end does not fill the log.
 */
#ifndef APPPOOL_SYSTEM_LOG_H
#define APPPOOL_SYSTEM_LOG_H

#include <stddef.h>

#include "base/token_bucket.h"

/** Levels, as httpd numbers them. */
enum { LOG_ERROR = 3, LOG_WARN, LOG_NOTICE, LOG_INFO };

#define LOG_MAX      2048

/** Maximum bytes of a line of log_line(), with its newline. */
#define LOG_LINE_MAX (LOG_MAX + 128)

#define LOG_BURST    1000
#define LOG_RATE     10

/** State of one call in the source; zeroed at first. */
typedef struct log_kind {
    struct log_kind *next; /**< in the list of kinds with dropped lines */
    token_bucket_t bucket;
    unsigned long dropped; /**< since `logged_at` */
    int64_t logged_at;     /**< us: when dropped lines were last logged */
    char last[100];        /**< the beginning of the last one dropped */
} log_kind_t;

/** The open runtime directory. */
void log_directory(int fd);

/** Write lines up to this level from now on. LOG_NOTICE at first. */
void log_level(int most);

/** Write one line. What is longer than LOG_MAX bytes is cut off. */
#define log_line(level, ...)                                                   \
    do {                                                                       \
        static log_kind_t log_kind_;                                           \
        log_line_of(&log_kind_, level, __VA_ARGS__);                           \
    } while (0)

void log_line_of(log_kind_t *kind, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Does the LogLevel of httpd let such a line through? */
int log_has(int level);

/** Write one line of a level that log_has(). @return 0: it was dropped */
int log_text_of(log_kind_t *kind, int level, const char *text);

/** Write whole lines, which are in the style of the log. */
void log_write(const char *lines, size_t length);

/** @return how many lines end in this text */
size_t log_count(const char *text, size_t length);

/**
 * Log how many lines were dropped or lost: for each kind every ten seconds.
 * @param last the program ends, so log all of it now
 */
void log_tick(int last);

/** In a forked child: its parent logs what it has dropped so far. A child that
 * drops lines calls log_tick(1) before it ends. */
void log_forked(void);

/** The error log to append to, or -1. The caller closes it. */
int log_open(void);

/** How the lines of the main server's error log look: a format for
 * log_format_line(), until the next call; or NULL. */
const char *log_format(void);

/* ---- how a line of an error log looks; a text of any content makes a line
 * that fits ---- */

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

/** Make a line of a log that is not an error log: "[time] shop[4711]> text". */
size_t log_format_bare(const log_message_t *message, char *to, size_t size);

/**
 * Copy text so that it stays on one line.
 * @return bytes written to `to`, without the NUL; less than size
 */
size_t log_format_escape(char *to, size_t size, const char *from,
                         size_t length);

#endif
