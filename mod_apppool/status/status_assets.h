/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_assets.h
 * @brief Style and script of the status page. They are constant and part of the
 *        page, so the page is one response and loads nothing.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_ASSETS_H
#define MOD_APPPOOL_STATUS_STATUS_ASSETS_H

extern const char apppool_status_style[];

/**
 * The script requests the page every two seconds and replaces the sections that
 * have changed. An open part stays open, and an element with the focus keeps
 * it. The script waits while the page is hidden or text is selected, and says
 * so if no response comes. It sends the form of a button without leaving the
 * page.
 */
extern const char apppool_status_script[];

#endif
