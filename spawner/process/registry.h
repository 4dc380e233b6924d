/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file registry.h
 * @brief The spawner's record of every app process, for the next spawner.
 *
 * The spawner writes the record of a process before the process may do
 * anything. So there is no app without a record. Records have a fixed size, and
 * one pwrite() writes a record.
 *
 * Errors: 0, or -1 with errno.
 * Crash:  a record is complete or does not exist. It is compared with /proc
 *         before it is used.
 * Trust:  root's file in root's directory.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_REGISTRY_H
#define APPPOOL_SPAWNER_PROCESS_REGISTRY_H

#include <stdint.h>
#include <sys/types.h>

#include "shm/format/format.h"

#define REGISTRY_MAGIC 0x35706c61 /* goes up with the layout */

#define REGISTRY_MAX   65536 /* records: the slot in an id has 16 bits */

enum { REGISTRY_FREE, REGISTRY_BOOTING, REGISTRY_LIVE, REGISTRY_ENDING };

/** REGISTRY_TEMPLATE: it serves nothing, and has no slot in the segment. */
enum { REGISTRY_PROCESS, REGISTRY_TEMPLATE };

typedef struct {
    uint32_t magic;
    uint32_t state; /**< REGISTRY_* */
    uint64_t id;
    uint64_t start;   /**< with pid: the process's identity */
    int64_t began;    /**< us, apl_now(): when it was forked */
    int64_t deadline; /**< us: when its boot has taken too long */
    uint64_t print;   /**< app_entry_t.print it was made from */
    int32_t pid;
    uint32_t uid, gid; /**< UINT32_MAX: not known yet */
    apl_wire_t wire;
    uint32_t stops_itself;   /**< it said STOPPING=1: it ends when it likes */
    char name[APL_NAME_MAX]; /**< of the group */
    uint32_t says_ready;     /**< it said READY=1 */
    uint32_t owner;       /**< of AppRoot, as the table said when it was made */
    uint32_t kind;        /**< REGISTRY_PROCESS, ... */
    uint64_t template_id; /**< that it was forked from; 0: it was executed */
    uint64_t stamp;       /**< of restart.txt: apl_start_t */
    uint32_t output_only; /**< of a template: nothing of it runs any more, and
                               only its output is read (template.h) */
    char padding[148];
} registry_record_t;

_Static_assert(sizeof(registry_record_t) == 512, "records are 512 bytes");

/** Open or make the file, and lock it. @return -1 with EAGAIN: another spawner
 * has it */
int registry_open(int dirfd);

/** After EAGAIN: the pid of the spawner that has it. @return 0: none any
 * more */
pid_t registry_owner(void);

/** Use a copy of the file, which has its name from now on. This is for a file
 * whose owner waits in the kernel with SIGKILL pending: that owner never gives
 * the lock back, and never writes again. */
int registry_copy(int dirfd);

/** Take the lowest free record. @return its index; -1: there is none */
int registry_take(void);

/** Take record `index`: the process in it is adopted. */
void registry_keep(uint32_t index);

/** Write record `index`. */
int registry_write(uint32_t index, const registry_record_t *record);

/** Empty record `index`: it is free. */
void registry_clear(uint32_t index);

enum { REGISTRY_END, REGISTRY_EMPTY, REGISTRY_BROKEN, REGISTRY_RECORD };

/** Read record `index`. @return REGISTRY_*; REGISTRY_END: there are no more */
int registry_read(uint32_t index, registry_record_t *record);

/** Cut the file after `n` records. */
void registry_cut(uint32_t n);

#endif
