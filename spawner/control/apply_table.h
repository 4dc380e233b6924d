/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file apply_table.h
 * @brief A new app table: load it, and make the segment and the running
 *        processes follow. The spawner gets as many descriptors as MaxPoolSize
 *        needs.
 *
 * Errors: a table that is refused is logged once, and read again each second.
 *         The old one stays in force meanwhile. If there are too few
 *         descriptors, one line of the log has the numbers.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_APPLY_TABLE_H
#define APPPOOL_SPAWNER_CONTROL_APPLY_TABLE_H

#include "spawner/process/state.h"

/**
 * Load the table if its file is another one than last time. The limit of
 * descriptors is raised to what it needs; apps get s->descriptors, which is
 * httpd's own.
 * @return 1: a new table is in force
 */
int apply_table_refresh(spawner_t *s);

/** There is no table: s->table is an empty one. Only the name of the instance
 * is known, which the mark contains. */
void apply_table_none(spawner_t *s);

/** Copy to the process what the table says about its app: time limits, the stop
 * signal, its label, and the route of its output. If the app has left the
 * table, the process keeps what it has. */
void apply_table_configure(spawner_t *s, process_t *p);

/** Was the process made from another configuration than that of `a`? */
int apply_table_is_outdated(const process_t *p, const app_entry_t *a);

/**
 * Write the options of the app of this process to the segment, where the
 * process has a place from now on.
 * @return that of apl_configure_group(); APR_SUCCESS: no such app
 */
apr_status_t apply_table_process(spawner_t *s, const process_t *p);

/**
 * Make the segment follow the table: at once after a new table, and then each
 * second, because damage may have changed the segment. Also put the users of
 * apps into the table: a process knows the user that owned AppRoot when
 * it began.
 * @return 1: an app has another user now
 */
int apply_table(spawner_t *s);

#endif
