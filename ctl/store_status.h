/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_status.h
 * @brief apppoolctl store status, top, ready, usable: what the report of the pool
 *        says about its store.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  texts are printed without control characters.
 */
#ifndef APPPOOL_CTL_STORE_STATUS_H
#define APPPOOL_CTL_STORE_STATUS_H

#include "ctl/top.h"

/** Print the spaces. @param raw 1: as the JSON object of the report */
int store_status(const char *dir, int raw);

/** The spaces with their rates, for top_show(). */
extern const top_view_t store_top;

/** Exit statuses of store_ready(), beside those of ask_server.h. */
enum {
    STORE_NOT_COMPLETE = 4, /**< it has a part of a copy */
    STORE_NOT_BEST = 5,     /**< another host has better data */
    STORE_NOT_FRESH = 6     /**< its copy is whole, but old */
};

/** Is this host the master, or may it become the master? Prints why not.
 * @return EXIT_OK: it may; one of those above; EXIT_NO */
int store_ready(const char *dir, int raw);

/** As store_ready(), but an old copy is good enough. */
int store_usable(const char *dir, int raw);

#endif
