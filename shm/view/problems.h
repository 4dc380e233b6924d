/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file problems.h
 * @brief What is wrong now, in sentences: for the status page and for
 *        apppoolctl.
 *
 * Everything is derived from a report (report.c). So whoever has a report, such
 * as a user with the part of its own apps, gets the problems of this part. A
 * key that is missing makes no problem.
 *
 * Trust: texts of the report are used as they are: valid UTF-8, and maybe with
 *        control characters.
 */
#ifndef APPPOOL_SHM_VIEW_PROBLEMS_H
#define APPPOOL_SHM_VIEW_PROBLEMS_H

#include <jansson.h>

/** s: a queue is no problem while its first request has waited for less. */
#define APL_PROBLEM_WAIT    1.0
/** s: a start is no problem while it lasts for less. */
#define APL_PROBLEM_START   5.0
/** s: the spawner records the history every 5 s. If the last record is older,
 * the spawner does not work. */
#define APL_PROBLEM_SPAWNER 20.0
/** Responses 5xx of the last minute: as many, and more than this part. */
#define APL_PROBLEM_ERRORS  5
#define APL_PROBLEM_PART    0.05

/**
 * What is wrong, the worst first.
 * @return a new reference: an array of {"app": NAME or null, "kind": WORD,
 *         "text": SENTENCE}. doc/status.md lists the kinds.
 */
json_t *apl_report_problems(const json_t *report);

/**
 * Why do requests of this group wait? Says what its processes do, and which
 * limit is reached: "all 2 processes are busy (MaxInstances 2)".
 * @param report for the limits of the pool
 * @param to     filled in, `size` bytes
 */
void apl_report_why_waiting(const json_t *report, const json_t *group, char *to,
                            size_t size);

#endif
