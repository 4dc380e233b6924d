/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_ruby.h
 * @brief Ruby: which server runs config.ru, and what runs an application of
 *        Sinatra or Roda that has no config.ru.
 */
#ifndef APPPOOL_DETECT_DETECT_RUBY_H
#define APPPOOL_DETECT_DETECT_RUBY_H

#include "detect/detect_file.h"
#include "detect/detect_text.h"

/** There is a server that may run config.ru. */
detect_test_t detect_ruby_has_server;

/** config.ru: puma. If Bundler allows only what Gemfile names, and it names no
 * puma, the server is that of Gemfile.lock, or there is none. */
detect_file_t detect_ruby_rackup;

/** The file and the class of the application, for helpers/ruby/app.ru. */
detect_file_t detect_ruby_app;

#endif
