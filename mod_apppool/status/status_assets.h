/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_assets.h
 * @brief Style and script of the status page. Constant; they are written into
 *        the page, which so is one answer and loads nothing.
 *
 * Lock:  none.
 * Crash: nothing is held.
 * Trust: not concerned.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_ASSETS_H
#define MOD_APPPOOL_STATUS_STATUS_ASSETS_H

extern const char apppool_status_style[];

/**
 * Every two seconds it asks for the page and puts the sections that changed
 * in place of those that are there; what is open stays open, what has the
 * focus keeps it. It waits while the page is hidden or text is selected, and
 * says so when no answer comes. A button's form is sent without leaving the
 * page.
 */
extern const char apppool_status_script[];

#endif
