/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_metrics.h
 * @brief The status document (shm/view/report.h) as OpenMetrics.
 *
 * Trust: names of applications are escaped.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_METRICS_H
#define MOD_APPPOOL_STATUS_STATUS_METRICS_H

#include <httpd.h>
#include <jansson.h>

/** `?metrics`: OpenMetrics 1.0, to its "# EOF". */
void apppool_status_metrics(request_rec *r, const json_t *doc);

#endif
