/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file instance_list.h
 * @brief The instances that httpd has: ours, and those that other builds of
 *        the module left (retained.h).
 *
 * Lock:  none.
 * Crash: see retained.h.
 * Trust: httpd's own memory.
 */
#ifndef MOD_APPPOOL_PARENT_INSTANCE_LIST_H
#define MOD_APPPOOL_PARENT_INSTANCE_LIST_H

#include <apr_pools.h>

#include "mod_apppool/parent/retained.h"

/** The newest instance. @return NULL: there never was one */
apppool_retained_t *apppool_instance_list_newest(void);

/** Make room for a new one, `size` bytes that begin with that struct. */
apppool_retained_t *apppool_instance_list_add(apr_size_t size,
                                              const char *build);

/** Was anything started, and not ended yet? */
int apppool_instance_list_is_open(const apppool_retained_t *r);

/** Was it given up, so that it ends with the children that use it? */
int apppool_instance_list_winds_down(const apppool_retained_t *r);

/** Give up all that other builds made; children of httpd that are forked from
 * now on know nothing of them. */
void apppool_instance_list_give_up(const char *build);

/** Another open instance in the same AppPoolRuntimeDir. @return NULL: none */
apppool_retained_t *apppool_instance_list_in(const char *base,
                                             const apppool_retained_t *but);

/** Is there an open instance whose runtime directory this is? */
int apppool_instance_list_uses(const char *runtime);

/** It has ended: forget it, and remove what is the parent's to remove. */
void apppool_instance_list_forget(apppool_retained_t *r);

/** In a child of httpd: close what is the parent's alone. */
void apppool_instance_list_inherit(int bell);

#endif
