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
/** s: the same if other processes serve, as in each restart after a change of
 * the code: a large application may take more than 5 s. */
#define APL_PROBLEM_RESTART 30.0
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

#endif
