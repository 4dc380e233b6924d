/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_chart.h
 * @brief The history of the status document, as charts.
 *
 * Lock:  none.
 * Crash: nothing is held.
 * Trust: numbers only.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_CHART_H
#define MOD_APPPOOL_STATUS_STATUS_CHART_H

#include <httpd.h>
#include <jansson.h>

/** Requests a second, time in the applications, and the queue, as inline SVG.
 */
void apppool_status_charts(request_rec *r, const json_t *history);

#endif
