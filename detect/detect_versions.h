/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_versions.h
 * @brief Languages that asdf, mise, chruby and pyenv have installed for the
 *        user of the app, in the versions that the files of the app name:
 *        .tool-versions, mise.toml, .ruby-version, .python-version. A version
 *        that is not there is left out.
 *
 * Their shims are shell programs, which need settings of the user's shell. So
 * the directory of the version itself is used.
 */
#ifndef APPPOOL_DETECT_DETECT_VERSIONS_H
#define APPPOOL_DETECT_DETECT_VERSIONS_H

/** One directory of programs, which goes behind those of earlier calls. */
typedef void detect_versions_t(void *ctx, const char *dir);

/** @param home of the app's user */
void detect_versions(const char *home, detect_versions_t *each, void *ctx);

#endif
