/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file top.h
 * @brief apppoolctl top: shows the present state of the pool again and again:
 *        its apps, and the open requests, longest first.
 *
 * Trust: missing keys are shown as "-"; texts are printed without control
 *        characters.
 */
#ifndef APPPOOL_CTL_TOP_H
#define APPPOOL_CTL_TOP_H

#include <jansson.h>
#include <stdio.h>

/** The last two reports. */
typedef struct {
    json_t *now, *before;
    double seconds;      /**< between the two */
    double at;           /**< time of the last one */
    const char *trouble; /**< why there was no newer one; or NULL */
} top_reports_t;

/** What is shown. */
typedef struct {
    const char *member; /**< of the report, for raw; NULL: all of it */
    void (*put)(FILE *out, const top_reports_t *l); /**< writes the screen */
} top_view_t;

/** The apps and the open requests. */
extern const top_view_t top_pool;

/** How much a number has grown in a second, as "12.5"; "-" with the first
 * report, and when the number was reset meanwhile. */
const char *top_rate(const top_reports_t *l, const json_t *now,
                     const json_t *before, const char *key, char text[24]);

/** Write the time of day, with which each screen begins. */
void top_put_clock(FILE *out);

/**
 * Show it until q is pressed.
 * @param raw   a JSON object on a line each time
 * @param delay between two updates, ms
 * @param times end after this many updates; 0: no limit
 * @return the exit status
 */
int top_show(const char *dir, const top_view_t *view, int raw, int delay,
             long times);

#endif
