/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect.h
 * @brief Finds the command that runs an app from the files of the app.
 *        detect_table.h has all the rules, detect_text.h looks at the files,
 *        and detect_server.h knows how each server is run.
 *
 * A command is looked for in the current directory, with the rights of the
 * app's user. What is asked for a warning, or for the protocol, may be asked by
 * root: in httpd -t and in httpd's parent.
 *
 * Trust: the files belong to the app, and so does the command that they name.
 *        They may be made to keep root busy: each look is bounded, whatever
 *        they are (detect_text.h, python_line.h).
 */
#ifndef APPPOOL_DETECT_DETECT_H
#define APPPOOL_DETECT_DETECT_H

#include "detect/detect_found.h"

/** @return 1: found; 0: no file names a command, or there is no template for
 *          it, and `why` says so */
int detect_command(const detect_config_t *config, detect_found_t *found);

/** What is known of a command that is configured: only its first words count.
 * The number of requests follows from the command, and not from
 * config->concurrency, because a reload may change that. */
void detect_given(const detect_config_t *config, const char *command,
                  detect_found_t *found);

/**
 * For a warning: could a file of the current directory name a command? A rule
 * is believed that detect_command() may still refuse, and so is a file that
 * cannot be read.
 * @return 0: none does, and found->why says so
 */
int detect_names(const detect_config_t *config, detect_found_t *found);

/**
 * For a warning: which protocol do the files suggest? Any thread may ask.
 * @param file filled in: the name that decides, or its pattern
 * @return APL_HTTP ...; APL_AUTO: not known
 */
uint32_t detect_protocol(const char *dir, const char **file);

/** Do the files say that it is a PHP site? A Procfile or a package.json does
 * not decide: many of these sites have one for their scripts in the browser.
 * Any thread may ask.
 * @param protocol AppProtocol; APL_AUTO: any */
int detect_is_php(const char *dir, uint32_t protocol);

#endif
