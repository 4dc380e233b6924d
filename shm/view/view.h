/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file view.h
 * @brief The report of a pool: the documents for operators. A part for each
 *        file; snapshot.h has the copy that is reported.
 */
#ifndef APPPOOL_SHM_VIEW_VIEW_H
#define APPPOOL_SHM_VIEW_VIEW_H

#include <apr_time.h>
#include <jansson.h>
#include <stdint.h>

#include "shm/format/pool.h"
#include "shm/format/format.h"
#include "base/store_figures.h"

/* report.c: the pool as the JSON document that doc/status.md describes. Only
 * this file knows its keys. With report_store.c and report_value.c it is the
 * part of shm/ that uses jansson.
 *
 * Lock:  none: it reads a snapshot.
 * Trust: texts of the segment become valid UTF-8 and end within their bounds. A
 *        reference that leads nowhere is left out. An unknown kind of event is
 *        "unknown". */

/** For json_dumps(): 0.1 is 0.1, and not 0.10000000000000001. */
#define APL_REPORT_REALS JSON_REAL_PRECISION(15)

/** Parts of a report. */
enum {
    APL_REPORT_QUERIES = 1, /**< query strings, where they were recorded */
    APL_REPORT_BRIEF = 2    /**< no histograms: they are most of the work */
};

/**
 * Describe a snapshot.
 * @param copy  from apl_snapshot_take()
 * @param parts APL_REPORT_*
 * @return a new reference, or NULL when there is no memory
 */
json_t *apl_report_json(const apl_pool_t *copy, int parts);

/** Describe one group of a snapshot only.
 * @param only its name; NULL: all groups */
json_t *apl_report_part(const apl_pool_t *copy, int parts, const char *only);

/** Its part about the last ten minutes: one object for each time between two
 * samples, oldest first. */
json_t *apl_report_history(const apl_header_t *h);

/** The word for an APL_EVENT_*. */
const char *apl_report_event(uint32_t kind);

/* configured.c: the key `configured` of a report: all apps of the
 * configuration, whether they were used or not. The report is that of httpd, or
 * that of the spawner, and the shape is the same. */

/** An app of the configuration. */
typedef struct {
    const char *name, *label, *root;
    const char *user;  /**< it runs as this user; NULL: not known */
    const char *group; /**< and in this group; NULL: the user's own */
} apl_configured_t;

/** Begin the list, which is empty then. @param report has `groups` already
 * @return the names of these; to be released */
json_t *apl_configured_begin(json_t *report);

/** Add an app. @param used from apl_configured_begin() */
void apl_configured_add(json_t *report, const json_t *used,
                        const apl_configured_t *app);

/* events_folded.c: events that repeat, as one line. Page and apppoolctl share
 * this rule. */

/**
 * Make one line of all events that have the same app, event and reason, as long
 * as no more than ten minutes are between two of them.
 * @param events of the report, oldest first
 * @return a new reference: copies of the last event of each line, with the keys
 *         "count" and "first" (time of the first event); oldest first
 */
json_t *apl_report_folded(const json_t *events);

/* report_store.c: the store in the report (report.c): its spaces, what was done
 * with them since it was started, and its role among other hosts.
 *
 * Lock:  none: the store goes on counting meanwhile, so two numbers may differ
 *        by some operations.
 * Crash: the figures of a store that has died stay until the next one has
 *        started.
 * Trust: the store may write anything into its figures. No length and no index
 *        is read from them. A space whose name does not end, has a control
 *        character or was there before is left out. A role that does not
 *        exist is no cluster. An address that does not end, or has characters
 *        that no address has, is null. */

/**
 * Describe the store.
 * @param f the mapped figures, STORE_FIGURES_SIZE bytes; or NULL
 * @return a new reference: an object; null if no store has written figures of
 *         this version
 */
json_t *apl_report_store(const store_figures_t *f);

/** Describe the cluster. @return a new reference: an object; null if the store
 * is alone */
json_t *apl_report_cluster(const store_cluster_figures_t *f);

/* report_numbers.c: the numbers of an application in the report (report.c): its
 * responses, how long they took, and what its processes use.
 *
 * Lock:  none: they are read where they are counted, so two of them may differ
 *        by some requests.
 * Trust: they may be any numbers. */

/** Put the numbers into the object of a group. @param copy from
 * apl_snapshot_take() */
void apl_report_numbers(json_t *group, const apl_pool_t *copy,
                        const apl_group_t *g);

/** What its processes use. @param group has `processes` already */
void apl_report_use(json_t *group, const apl_pool_t *copy,
                    const apl_group_t *g);

/** The last ten minutes of an application, oldest first. @return a new
 * reference: an array; an empty one if there is no such application */
json_t *apl_report_app_history(const apl_pool_t *copy, const char *name);

/**
 * Leave only one application in `groups`, with its history.
 * @param copy what the report was made from; NULL: of nothing
 */
void apl_report_only(json_t *report, const apl_pool_t *copy, const char *name);

/** Copy the steps of the last ten minutes, oldest first. @param numbers or NULL
 * @return how many there are */
int apl_report_steps(const apl_numbers_t *numbers, int64_t now,
                     apl_step_t to[APL_STEPS]);

/* report_spark.c: the last ten minutes of each application in a few bytes, for
 * lists with a line for each. */

/**
 * Set the key `spark` of each group: `all` (all responses) and `errors` (5xx),
 * a digit from 0 to z for each step, the newest is last; null: there were none;
 * and `peak`, the responses a second that "z" means.
 * @param report from apl_report_json(copy), with all groups
 */
void apl_report_sparks(json_t *report, const apl_pool_t *copy);

/* report_value.c: values of the report (report.c): texts, numbers, times and
 * ids as JSON.
 *
 * Trust: a text of the segment becomes valid UTF-8. */

/** Any bytes as a text of JSON: bytes that are not UTF-8 become "?". */
json_t *apl_report_text(const char *s);

json_t *apl_report_number(uint64_t n);

/** A figure that another process may write at any time, and that may be
 * nonsense. JSON has no number above INT64_MAX. */
json_t *apl_report_figure(const uint64_t *n);

/** A time as ISO 8601, with milliseconds. */
json_t *apl_report_time(apr_time_t t);

/** As before, a time of our clock (apl_now()). */
json_t *apl_report_instant(int64_t t);

/** As before, s since 1970. @return NULL: no time of this era */
json_t *apl_report_epoch(uint64_t s);

/** A duration with milliseconds. */
json_t *apl_report_seconds(int64_t us);

/** An id as 16 hexadecimal digits. */
json_t *apl_report_id(uint64_t id);

/** Set a key. @param value taken over; NULL: the key is set to null */
void apl_report_set_known(json_t *o, const char *key, json_t *value);

/* memory_use.c: how much memory do processes have, with all processes that they
 * have started?
 *
 * This is the resident memory of each process plus that of its session (its
 * workers, for example), as in /proc/PID/stat. Memory that several of them
 * share counts for each one. One pass over all processes of the system
 * measures all processes that are asked for. It takes about 10 us for each
 * process on the host, and no process can delay it.
 *
 * Lock:  must not be held: this reads /proc.
 * Trust: /proc is what the kernel says. The caller may ask for any process. */

/** A process that leads a session. */
typedef struct {
    apl_identity_t identity;
    int64_t bytes; /**< -1: there is no such process (any more) */
} apl_memory_use_t;

/** Fill in the bytes. @param of becomes sorted */
void apl_memory_use_measure(apl_memory_use_t *of, uint32_t n);

/** The bytes of the process with this pid. @return -1: not known */
int64_t apl_memory_use_of(const apl_memory_use_t *of, uint32_t n, int32_t pid);

#endif
