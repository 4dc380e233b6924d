/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file instance_list.h
 * @brief The list of instances that httpd has: the one of this build, and those
 *        that other builds of the module have left (retained.h).
 *
 * Crash: see retained.h.
 * Trust: httpd's own memory.
 */
#ifndef MOD_APPPOOL_PARENT_INSTANCE_LIST_H
#define MOD_APPPOOL_PARENT_INSTANCE_LIST_H

#include <apr_pools.h>

#include "mod_apppool/parent/retained.h"

/** The newest instance. @return NULL: there has never been one */
apppool_retained_t *apppool_instance_list_newest(void);

/** Add a new one: `size` bytes that begin with that struct. */
apppool_retained_t *apppool_instance_list_add(apr_size_t size,
                                              const char *build);

/** Was it started, and has it not ended yet? */
int apppool_instance_list_is_open(const apppool_retained_t *r);

/** Was it given up? Then it ends together with the last child that uses it. */
int apppool_instance_list_winds_down(const apppool_retained_t *r);

/** Has somebody removed its runtime directory? Then nothing can be started in
 * it, and a directory that is there now is another one. */
int apppool_instance_list_is_lost(const apppool_retained_t *r);

/** A configuration is read: processes that are forked from now on, also by
 * other modules, do not have the instances that this build does not
 * continue. */
void apppool_instance_list_withhold(const char *build);

/** Give up those instances, when the store of the last one was told to end.
 * Each ends when the last child that uses it is gone. */
void apppool_instance_list_give_up(void);

/** Another open instance in the same AppPoolRuntimeDir. @return NULL: none */
apppool_retained_t *apppool_instance_list_in(const char *base,
                                             const apppool_retained_t *but);

/** Is there an open instance whose runtime directory this is? */
int apppool_instance_list_uses(const char *runtime);

/** The instance has ended. Forget it, and remove the files that the parent has
 * to remove. */
void apppool_instance_list_forget(apppool_retained_t *r);

/** In a child of httpd: close the descriptors that only the parent needs. */
void apppool_instance_list_inherit(int doorbell);

#endif
