/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file section.h
 * @brief The sections of the configuration as they are written: their names and
 *        their arguments.
 *
 * Trust: the configuration is root's. An .htaccess file is a user's: then the
 *        text may be anything.
 */
#ifndef MOD_APPPOOL_CONFIG_SECTION_H
#define MOD_APPPOOL_CONFIG_SECTION_H

#include <httpd.h>
#include <http_config.h>

/** What makes an argument a pattern. */
#define APPPOOL_SECTION_WILD "*?["

/** Has this directive this name? @param name of a section: "<Directory" */
int apppool_section_is(const ap_directive_t *d, const char *name);

/** "/srv/shop" of <Directory "/srv/shop/">. @return NULL: a regular
 * expression */
char *apppool_section_argument(apr_pool_t *p, const ap_directive_t *section);

/** Is this directory or URL the other one, or below it? A slash at the end of
 * the other one makes no difference.
 * @param n length of `above`, or of its beginning that counts */
int apppool_section_is_below(const char *path, const char *above, size_t n);

/** Find the virtual hosts in the configuration that was read. Without this,
 * each search for one of thousands would pass all the others. */
void apppool_section_begin(apr_pool_t *p);

/** The sections of a virtual host, const ap_directive_t *. Usually it is one;
 * if a macro made several of them, they cannot be distinguished. @return NULL:
 * there is none */
const apr_array_header_t *apppool_section_of_host(const server_rec *server);

/** What no virtual host has, const ap_directive_t *: sections, and Alias. */
const apr_array_header_t *apppool_section_of_all(void);

/** Is the directive in this virtual host, or in none? */
int apppool_section_holds_for(const ap_directive_t *d,
                              const server_rec *server);

#endif
