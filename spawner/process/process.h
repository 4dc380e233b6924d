/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file process.h
 * @brief The spawner's list of app processes, by id, pid, port and path.
 *
 * Errors: 0, or -1.
 * Crash:  a process is in the registry before it runs.
 * Trust:  a pid is used only if it was forked here, or its start time was
 *         compared.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_PROCESS_H
#define APPPOOL_SPAWNER_PROCESS_PROCESS_H

#include "spawner/process/state.h"

/** Add a new process to the list, with a free record. @return NULL: there is no
 * memory or no record */
process_t *process_new(spawner_t *s, uint64_t id, const char *name);

/** Add a process of the last spawner, which has this record. @return NULL: no
 * memory */
process_t *process_adopted(spawner_t *s, uint32_t record,
                           const registry_record_t *is);

/** Its leader is this child of the spawner. */
void process_forked(spawner_t *s, process_t *p, pid_t pid);

/** Its start is that of its template: the same user, command, protocol and
 * code. */
void process_started_as(process_t *p, const process_t *t);

/** What the segment has to know of its start. */
apl_start_t process_start(const process_t *p);

/** Forget the child that was its leader for a moment: it has no pid again. */
void process_forget_child(spawner_t *s, process_t *p);

/** It listens on this port. */
void process_has_port(spawner_t *s, process_t *p, uint32_t port);

process_t *process_find(const spawner_t *s, uint64_t id);
process_t *process_of_child(const spawner_t *s, pid_t pid);
process_t *process_of_port(const spawner_t *s, uint32_t port);

/** @return the process whose listening socket has this path; NULL: none */
process_t *process_of_path(const spawner_t *s, const char *path);

/** Write its record, with `state`. While it has no pid, it has no record. */
int process_record(process_t *p, uint32_t state);

/** Close the probe of ready.c: the process is ready, or has to end. A server
 * that stops first reads from all connections, and a probe never sends. */
void process_end_probe(process_t *p);

/** Close the socket of a template's orders, so that the template ends. Also
 * close the pipe of a process that waits for "go", so that the process ends. */
void process_end_forking(process_t *p);

/** Free the processes that are done. output_forget() was called for them. */
void process_collect(spawner_t *s);

/** For messages: shop[4711] */
#define PROCESS_FMT     "%s[%d]"
#define PROCESS_NAME(p) (p)->label, (int)(p)->is.pid

#endif
