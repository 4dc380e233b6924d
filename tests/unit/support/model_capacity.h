/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file model_capacity.h
 * @brief Searches in the state of the model, and how its room is shared. For
 *        model.c and model_spawner.c.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_MODEL_ROOM_H
#define APPPOOL_TESTS_UNIT_SUPPORT_MODEL_ROOM_H

#include "tests/unit/support/model.h"

/* How many there are, in a group or in all groups (group -1). */
unsigned model_size(const model_t *m, int group);
unsigned model_spawning(const model_t *m, int group);
unsigned model_waiting(const model_t *m, int group);

unsigned model_hung(const model_t *m, int group);
unsigned model_credit(const model_t *m, int group);

/** Does the group have no process, or only hung ones? */
int model_unserved(const model_t *m, int group);

/** Are too few of its processes not hung? Then it may start some above the
 * limits. */
int model_is_short(const model_t *m, int group);

/** As apl_group_may_start() and apl_group_may_grow(). */
int model_may_start(const model_t *m, int group);
int model_may_grow(const model_t *m, int group);

/** As apl_group_fails() and apl_young_is(). */
int model_fails(const model_t *m, int group);
int model_young(const model_t *m, int process);

/** A start failed: the group waits. @param id that the error has */
void model_back_off(model_t *m, int group, uint64_t id);

/** As of backoff.h: a start is a success; is one by its age? A live process ends
 * by itself. */
void model_end_row(model_t *m, int group);
void model_check_start(model_t *m, int group);
void model_early_end(model_t *m, int process);

/** The failures that are early ends. */
unsigned model_early(const model_t *m, int group);

/** Was the start of this process ordered after the last early end? */
int model_later(const model_t *m, int process);

/** The live or leaving process has responded to a request. */
void model_note_response(model_t *m, int process);

/** Is the last failure the early end of this process? */
int model_is_blamed(const model_t *m, int process);

/** Are there too many unkillable processes? */
int model_too_many_unkillable(const model_t *m, int group);

/** Is the group above its limit; or the pool, and the group can spare one? */
int model_above(const model_t *m, int group);

/** Is a process live, and of an old revision? */
int model_outdated(const model_t *m, int process);

/** The number of processes that the pool may have. */
unsigned model_limit_of(const model_t *m);

/** Is the pool above its limit? */
int model_exceeded(const model_t *m);

/** The session that waits longest, or -1. */
int model_head(const model_t *m, int group);

/** The groups that exist, in the order of the pool's slots. @return how many */
int model_in_order(const model_t *m, int groups[MODEL_GROUPS]);

/** Has a been idle for longer than b? */
int model_idles_longer(const model_t *m, int a, int b);

/** The next process in the order of the pool's slots, or -1. */
int model_next_slot(const model_t *m, unsigned above);

/** A process slot for this group. NULL: none is free. */
m_process_t *model_add(model_t *m, int group, m_state_t state);

/** A process changes its state. */
void model_move(model_t *m, int process, m_state_t state);

/** A process is hung, or not any more. */
void model_hang(model_t *m, int process, int hung);

/** A process is used now. */
void model_touch(const model_t *m, m_process_t *p);

/** A session gets a process. */
void model_give(model_t *m, int session, int process);

/** The wait of a session ends without a process. */
void model_fail(model_t *m, int session, apr_status_t outcome);

/** Apply options. @return 1: they were new */
int model_options(model_t *m, int group, const apl_options_t *options);

/** Add a group. */
void model_found(model_t *m, int group, unsigned slot,
                 const apl_options_t *options);

/** The processes of a group leave: live ones, booting ones. */
void model_leave(model_t *m, int group, int live, int booting);

/** A restart, without the sharing of room after it. */
void model_reload(model_t *m, int group, int rolling);

/** Has the process had MaxRequests? */
int model_full(const model_t *m, int process);

/** A process has had MaxRequests. */
void model_retire_full(model_t *m, int process);

/** The process closed a session: retire it if it has to end. */
void model_retire(model_t *m, int process);

/** The process that makes room for a newcomer, or -1. @param unserved as of
 * apl_group_unserved() */
int model_victim(const model_t *m, int newcomer, int unserved);

/** A busy process of the group that can make room, or -1. */
int model_shared_victim(const model_t *m, int freed, int newcomer);

/** Does the process serve only abandoned requests, and would its end leave a
 * place? */
int model_forsaken(const model_t *m, int process);

/* As apl_capacity_ask(), apl_capacity_replace_outdated(), and so on. */
void model_want(model_t *m, int group);
int model_demand(model_t *m, int group);
void model_replace(model_t *m, int group);
void model_settle(model_t *m);
void model_share(model_t *m, int group);
void model_share_all(model_t *m);
void model_yield(model_t *m, int process);
void model_return(model_t *m, int group);

#endif
