/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_log.h
 * @brief Lines about one app: in the error log of the main server, and a copy
 *        where the app's output goes.
 *
 *     [...] [apppool:error] [pid 12] apppool: shop[4711] died: ...
 *
 * So the administrator of the server has one place for all lines. The
 * administrator of a virtual host reads the lines about its app beside the
 * output of the app. In an error log, the copy is the same line. In an AppLog,
 * it has the same time and text ("[...] shop[4711] died: ..."). An AppLog whose
 * format is raw gets no copy, because the program that reads it may understand
 * only what the app prints. If a line of the main log is dropped (log.h), so is
 * its copy.
 *
 * Errors: there is no copy while the user that has to open an AppLog is not
 *         known.
 * Trust:  the copy goes through the same child as the output (log_writer.h).
 *         Output of the app has "> " behind the name. A line about the app does
 *         not. Reports (stuck_report.c) are not copied: only root may see
 *         stacks of the kernel.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_APP_LOG_H
#define APPPOOL_SPAWNER_OUTPUT_APP_LOG_H

#include "system/log.h"
#include "spawner/process/state.h"

/** A line about a process. It begins with the name; the format is the rest. */
#define app_log(process, level, ...)                                           \
    do {                                                                       \
        static log_kind_t app_log_kind_;                                       \
        app_log_of(&app_log_kind_, process, level, __VA_ARGS__);               \
    } while (0)

/** A line about an app. The format has to contain the name. */
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
