/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file state.h
 * @brief What the spawner knows: itself, and each process of an app.
 *
 * A process_t lives from the order to start it until nothing of it is left:
 * neither its process group, nor its files, nor its slot in the segment.
 *
 *     BOOTING --ready--> LIVE --segment says LEAVING--> ENDING --late--> KILLED
 *        |                                                ^                ^
 *        +-- detached meanwhile --------------------------+                |
 *        +-- failed -------------------------------------------------------+
 *
 * In any of them its leader may die (`gone`); it is then waited for the rest
 * of its process group.
 */
#ifndef APPPOOL_SPAWNER_STATE_STATE_H
#define APPPOOL_SPAWNER_STATE_STATE_H

#include <signal.h>
#include <sys/resource.h>

#include "shm/verbs/supervise.h"
#include "spawner/state/loop.h"
#include "spawner/output/output.h"
#include "spawner/state/registry.h"
#include "spawner/state/process_files.h"
#include "spawner/state/app_table.h"

#define SECOND ((int64_t)1000000)

/** Of warmup.c: a request on `probe`. Zeroed at first. */
typedef struct {
    int asked;     /**< the request was sent */
    int64_t again; /**< us: no other before */
    int64_t until; /**< us: the rest of an answer is read so long; 0 */
    char line[12]; /**< "HTTP/1.1 200" */
    size_t length; /**< bytes of it that are there */
    int status;    /**< of the last answer; 0: there was none */
} warmup_t;

/** Of abandoned.c: what is left to a process. Zeroed at first. */
typedef struct {
    uint32_t requests;    /**< that nobody waits for */
    uint32_t waiting;     /**< other requests, for a process of its app */
    uint32_t connections; /**< at the last look */
    uint32_t now;         /**< during a look */
    int64_t at;           /**< us: when that was */
    int64_t pause;        /**< us: from then to the next */
} left_t;

/** Of session_scan.c. */
typedef struct {
    uint64_t signals; /**< to be sent by the next one: bit N is signal N */
    int asked;        /**< the next one is to look for it */
    int weighed;      /**< and to add up its memory */
    int sought;       /**< the one that runs does, and its leader was dead */
    int found;        /**< 1: something runs; 0: nothing; -1: not known */
    int killed;       /**< what was left of it was sent SIGKILL */
    int survived;     /**< and was there when a later one began */
} session_scan_t;

enum { PHASE_BOOTING, PHASE_LIVE, PHASE_ENDING, PHASE_KILLED };

/** A process of an app. */
typedef struct process {
    struct process *next;
    uint32_t record; /**< where it is in the registry */
    registry_record_t is;
    int phase;
    int child;       /**< ours to wait for; 0: adopted, so there is a pidfd */
    int64_t adopted; /**< us: when it was taken over; 0: it was not */
    int listed;   /**< it has a slot in the segment, which must hear its end */
    int outdated; /**< the segment knows that its configuration changed */
    int gone;     /**< the leader is dead and reaped */
    int done;     /**< nothing is left; to be freed */
    siginfo_t cause;     /**< of the leader's end; si_pid 0: not known */
    uint64_t died_ticks; /**< when the leader died; procfs_now() */
    int64_t deadline;    /**< us; of the phase; see life.c */
    int64_t stop_timeout, hung_stop_timeout, drain_timeout;
    int stop_signal;
    int64_t
        drain_at; /**< us: slot_state.c: its links may last until then; 0: it
                        * does not have to leave */
    char label[64];
    char *log;     /**< where its output goes (log_program.h); NULL: the error
                            log */
    int log_raw;   /**< as it prints it */
    char user[64]; /**< name, for messages */
    char *command; /**< for messages; NULL: not known */
    char *failure; /**< why the start failed; NULL: it did not */
    uint64_t error_id; /**< stands in the log and in the segment */
    int probe;         /**< ready.c: connection to it, or -1 */
    int entry;         /**< ready.c: the socket that it bound, O_PATH, or -1 */
    int barred;        /**< ready.c: errno: why nobody can connect to that */
    int64_t probed;    /**< ready.c: when that was made */
    int seen;          /**< ready.c */
    int listeners;     /**< ready.c: Unix sockets that listen at its path */
    int64_t weigh_at; /**< us: memory_limit.c looks from then on, or did then */
    int64_t weight;   /**< memory_limit.c: bytes, roughly; -1: of no interest */
    int zombie;       /**< it survives SIGKILL, and that is known */
    int heavy;        /**< it is above AppMemoryLimit, and to be replaced */
    int condemned;    /**< stuck_report.c: its last report was begun */
    int untold;       /**< slot_state.c: its requests are yet to hear that it is
                            killed */
    int64_t quiet;    /**< us: stuck_report.c: it may be ended from then on */
    int64_t report_at; /**< us: slow_request.c has it looked at from then on */
    warmup_t warmup;   /**< AppReady: its path is being asked for */
    left_t left;       /**< requests that met AppTimeout */
    int seek;          /**< mark_scan.c: signal for what bears its mark; -1 */
    int sought;        /**< mark_scan.c: the child looks for that */
    int strays; /**< mark_scan.c: something bears its mark; -1: not known */
    session_scan_t census; /**< what runs of its session, or of its cgroup */
    int64_t rest_at;       /**< us: life.c asks for what is left from then on */
    int64_t live; /**< us, apl_now(): when it became ready; 0: not seen */
    int stays;    /**< early_exit.c: it has served, or is not young any more */
    output_t output;
    loop_source_t pidfd, reports, fifo, notify;
} process_t;

typedef struct spawner {
    apr_pool_t *pool;
    apl_pool_t shm;
    runtime_dir_t rt;
    char instance[17];
    app_table_t *table;
    process_t *processes;
    apr_hash_t *by_id, *by_child, *by_port; /**< of them: process.c */
    int64_t now;               /**< us, apl_now(): of this turn of the loop */
    int64_t wake;              /**< us: the next turn, at the latest */
    int64_t look_at;           /**< us: abandoned.c: no look before */
    struct rlimit descriptors; /**< RLIMIT_NOFILE as httpd was started with */
    int stopping;
    int unreaped; /**< children may be dead: life_reap() is due */
    int rung;     /**< the bell rang, or a child of httpd died: look at once */
} spawner_t;

/** The one spawner of this program; for callbacks that know a process. */
spawner_t *spawner_state(void);

/** The whole program. @return its exit status */
int spawner_main(int argc, char **argv);

/** Be called again at `at`, at the latest. */
static inline void state_wake(spawner_t *s, int64_t at)
{
    if (at < s->wake)
        s->wake = at;
}

#endif
