/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report_sentence.h
 * @brief Why an app does not start, in full: the segment has room for the
 *        beginning of that sentence, and the spawner's file has all of it
 *        (spawner/report/start_failure.h).
 *
 * Errors: without a file, or if the file is about another error, the beginning
 *         stays.
 * Trust:  the sentence contains output of the app. It becomes valid UTF-8.
 */
#ifndef APPPOOL_SHM_VIEW_REPORT_SENTENCE_H
#define APPPOOL_SHM_VIEW_REPORT_SENTENCE_H

#include <jansson.h>

/** Put the whole sentences into the report: `last_error` of a group, and `text`
 * of its slow start.
 * @param dir the path of the instance's files */
void apl_report_sentences(json_t *report, const char *dir);

#endif
