/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_log.h
 * @brief Lines about one app: in the error log of the main server, and a copy
 *        where the app's output goes.
 *
 *     [...] [apppool:error] [pid 12] apppool: shop[4711] died: ...
 *
 * So whoever looks after the server has one place, and whoever looks after one
 * virtual host reads what its app printed beside what became of the app. The
 * copy is the same line in an error log, and has its time and text in an AppLog
 * ("[...] shop[4711] died: ..."). An AppLog whose format is raw gets none, as
 * its reader may not take anything but what the app printed. What a line of the
 * main log is spared (log.h) the copy is spared, too.
 *
 * Errors: there is no copy while nobody knows as which user an AppLog is to be
 *         opened.
 * Trust:  the copy goes through the same child as the output (log_writer.h).
 *         Text of an app's own has "> " behind its name, and that of a line has
 *         not. Reports (stuck_report.h) are not copied: stacks of the kernel
 *         are root's.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_APP_LOG_H
#define APPPOOL_SPAWNER_OUTPUT_APP_LOG_H

#include "spawner/common/log.h"
#include "spawner/state/state.h"

/** A line about a process: its name, and what the format says after it. */
#define app_log(process, level, ...)                                           \
    do {                                                                       \
        static log_kind_t app_log_kind_;                                       \
        app_log_of(&app_log_kind_, process, level, __VA_ARGS__);               \
    } while (0)

/** A line about an app. The format says its name, too. */
#define app_log_about(app, level, ...)                                         \
    do {                                                                       \
        static log_kind_t app_log_kind_;                                       \
        app_log_about_of(&app_log_kind_, app, level, __VA_ARGS__);             \
    } while (0)

void app_log_of(log_kind_t *kind, const process_t *p, int level,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/** @param a may be NULL: then there is no copy */
void app_log_about_of(log_kind_t *kind, const app_entry_t *a, int level,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
