/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_name.h
 * @brief What a route (log_program.h) is called in a line of the error log.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LOG_NAME_H
#define APPPOOL_SPAWNER_OUTPUT_LOG_NAME_H

/** First byte of a route: a command; the ErrorLog of a virtual host. */
#define LOG_PROGRAM_PIPE     '|'
#define LOG_PROGRAM_ERRORLOG '='

typedef char log_name_t[512];

/** @return `name` */
const char *log_name(const char *route, log_name_t name);

#endif
