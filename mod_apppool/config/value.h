/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file value.h
 * @brief The kinds of values that directives take: numbers, times, switches,
 *        words, texts, paths. An error is one sentence with the directive, the
 *        value and what is allowed.
 *
 * An apppool_setting_t is the cmd_data of a directive. It says where in an
 * apppool_dir_t or apppool_server_t the value goes.
 *
 * Trust: values are root's, but may be any bytes.
 */
#ifndef MOD_APPPOOL_CONFIG_VALUE_H
#define MOD_APPPOOL_CONFIG_VALUE_H

#include "mod_apppool/config/setting.h"

/**
 * Is the directive allowed here, and is its value valid text?
 * @return NULL: yes; or the sentence that says why not
 */
const char *apppool_value_check(cmd_parms *cmd, void *dir,
                                const apppool_setting_t *v, const char *arg);

/* For directives with one argument. The most of a time is in seconds. */
const char *apppool_value_number(cmd_parms *cmd, void *dir, const char *arg);
const char *apppool_value_time(cmd_parms *cmd, void *dir, const char *arg);
const char *apppool_value_switch(cmd_parms *cmd, void *dir, const char *arg);
const char *apppool_value_path(cmd_parms *cmd, void *dir, const char *arg);

/** The range limits the length. */
const char *apppool_value_text(cmd_parms *cmd, void *dir, const char *arg);

/** Parse a number of bytes; K, M and G stand for 1024 and its powers.
 * @return 0: it is none, or more than `max` */
int apppool_value_parse_size(const char *arg, apr_int64_t max, apr_int64_t *n);

/** A size as it is written: 64M. */
const char *apppool_value_write_size(apr_pool_t *p, apr_int64_t n);

/** Bytes, as above. */
const char *apppool_value_size(cmd_parms *cmd, void *dir, const char *arg);

/** A signal that a process can handle, by name or number. If the least is 0,
 * also `none`, which is 0. */
const char *apppool_value_signal(cmd_parms *cmd, void *dir, const char *arg);

/** One of a few words. Its index among them is the value. */
const char *apppool_value_word(cmd_parms *cmd, void *dir, const char *arg);

/** Two numbers side by side, of two apppool_setting_t; the second may be
 * missing. */
const char *apppool_value_numbers(cmd_parms *cmd, void *dir, const char *arg,
                                  const char *more);

#endif
