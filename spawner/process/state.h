/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file state.h
 * @brief What the spawner knows: itself, and each process of an app.
 *
 * A process_t lives from the order to start it until nothing is left: no
 * process of its group, no file, and no slot in the segment.
 *
 *     BOOTING --ready--> LIVE --segment says LEAVING--> ENDING --late--> KILLED
 *        |                                                ^                ^
 *        +-- detached meanwhile --------------------------+                |
 *        +-- failed -------------------------------------------------------+
 *
 * In each phase its leader may die (`gone`). Then the spawner waits for the
 * rest of its process group.
 *
 * A spawner may be killed at any time. Each of its parts begins again in the
 * next one. A header says so under `Crash` only if something is lost, or is in
 * the registry, in a file or in the segment.
 *
 * A process that a template has to fork has no pid while it waits for that
 * (`forking`). A template is a process_t, too, without a slot in the segment.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_STATE_H
#define APPPOOL_SPAWNER_PROCESS_STATE_H

#include <signal.h>
#include <sys/resource.h>

#include "shm/verbs/supervise.h"
#include "base/store_figures.h"
#include "spawner/process/loop.h"
#include "base/token_bucket.h"
#include "spawner/process/registry.h"
#include "spawner/process/process_files.h"
#include "spawner/process/app_table.h"

#define SECOND ((int64_t)1000000)

/* ---- the parts of a process_t, one for each file that uses it ---- */

/** Of warmup.c: the request for the path of AppReady, on `ready.probe`. */
typedef struct {
    int sent;           /**< the request was sent */
    int64_t sent_at;    /**< us: when that was */
    int64_t not_before; /**< us: the next request is not sent before that */
    int64_t read_until; /**< us: until then the rest of a response is read */
    char line[12];      /**< "HTTP/1.1 200" */
    size_t length;      /**< bytes of it that are there */
    int status;         /**< of the last response; 0: there was none */
} warmup_t;

/** Of ready.c. */
typedef struct {
    int probe;         /**< connection to the process, or -1 */
    int64_t probed_at; /**< us: when that was made */
    int socket;        /**< the socket that the process bound, O_PATH, or -1 */
    int connect_errno; /**< why connect() to that fails; 0 */
    int seen;          /**< the probe was seen in a listening socket's queue */
    int listeners;     /**< Unix sockets that listen at its path */
    char beyond[46];   /**< address that other hosts reach, on which it listens
                            at its port; "": there is none */
} process_ready_t;

#define PROCESS_OWNER_MAX 48

/** Of wrong_port.c. */
typedef struct {
    int64_t look_at; /**< us: the next look; 0: there was none */
    char *ports;     /**< TCP ports that it listens on instead: "port 80"; NULL:
                          none is known */
    char owner[PROCESS_OWNER_MAX]; /**< which process does: "process 4711,
                                        ruby" */
} process_wrong_port_t;

/** Of life.c: what was said of its start, if that lasts long. */
typedef struct {
    int64_t look_at; /**< us: no look before that */
    char *text;      /**< what the last look found; NULL: nothing */
} process_slow_start_t;

/** The steps of a start. A failure names its step. */
enum {
    START_STEP_PREPARE,   /**< sockets, pipes, fork */
    START_STEP_USER,      /**< finding AppUser, taking its rights */
    START_STEP_VARIABLES, /**< reading AppEnvFile */
    START_STEP_DIRECTORY, /**< entering AppRoot */
    START_STEP_COMMAND,   /**< finding what to run, and running it */
    START_STEP_BOOT,      /**< it ended while it started */
    START_STEP_READY,     /**< it was not ready in time */
    START_STEP_STAY       /**< it ended as soon as it was ready */
};

/** Of launch.c and life.c: its start. */
typedef struct {
    char user[64];     /**< name, for messages */
    char *command;     /**< for messages; NULL: not known */
    char *failure;     /**< what failed at the start; NULL: nothing */
    char *reason;      /**< why, in words of its output; NULL: not known */
    int step;          /**< START_STEP_... that failed */
    uint64_t error_id; /**< of the failure; in the log and in the segment */
} process_start_t;

/** Of life.c: its end. */
typedef struct {
    siginfo_t cause;     /**< of the leader's end; si_pid 0: not known */
    uint64_t died_ticks; /**< when the leader died; procfs_now() */
    int64_t check_at;    /**< us: no check for what is left before that */
    int left_unsaid;     /**< what is left gets SIGKILL. If something is found,
                              that is logged */
} process_end_t;

/** Of apply_table.c: what the app table says about its app. It stays when the
 * app leaves the table. */
typedef struct {
    char *log;   /**< where its output goes (log_program.c); NULL: the error
                      log */
    int log_raw; /**< the lines are written as it prints them */
    char *error_format; /**< of lines for an error log (log.h); NULL:
                             httpd's own */
    int stop_signal;
    int64_t stop_timeout, hung_stop_timeout, retire_timeout; /**< us */
} process_app_t;

struct writer;

/** Of output.c and last_lines.c: its output; zeroed at first. */
typedef struct {
    char *partial; /**< a line that has no end yet */
    size_t length, room;
    uint64_t cut; /**< bytes of this line that are left out */
    char *tail;   /**< last lines; NULL: none are kept */
    size_t tail_length;
    unsigned tail_lines, tail_frames; /**< how many of them are frames */
    struct writer *writer;            /**< of AppLog; NULL: none yet */
    token_bucket_t bucket;
    int over; /**< the token bucket was empty since the FIFO was read last */
    int64_t resume;   /**< us: the FIFO is not read before that; 0: no pause */
    uint64_t dropped; /**< lines since that was logged */
    int64_t say;      /**< us: not logged before that */
} output_t;

/** Its slot in the segment. */
typedef struct {
    int listed;           /**< it has a slot, which must learn of its end */
    int outdated;         /**< apply_table.c: the segment knows that its
                               configuration changed */
    int64_t retire_until; /**< us: life.c: upgraded connections may last
                               until then; 0: it does not have to leave */
    int signal_unnoted;   /**< life.c: its requests do not know yet that
                               it has got its signal */
} process_slot_t;

/** Checks at which a connection has to be there, to count when it goes. */
#define ABANDONED_CHECKS 4

/** Of abandoned.c: requests for which no client waits. */
typedef struct {
    uint32_t requests; /**< how many */
    uint32_t waiting;  /**< other requests, for a process of its app */
    uint32_t counted;  /**< connections found during a check */
    uint32_t last[ABANDONED_CHECKS]; /**< what the last checks found; 0: no
                                           check since `requests` was 0 */
    int64_t counted_at;              /**< us: when that was */
    int64_t pause;                   /**< us: from then to the next check */
} process_abandoned_t;

/** Of connection_cut.c. */
typedef struct {
    int wanted;    /**< the next job is to cut its connection */
    int running;   /**< the job that runs does */
    int at_stop;   /**< it was asked for when the process was stopped */
    uint64_t word; /**< of the connection that the last job was asked to cut */
    int64_t not_before; /**< us: no job is asked before that */
} process_cut_t;

/** Of memory_limit.c; `bytes` is filled in by sid_scan.c. */
typedef struct {
    int64_t check_at; /**< us: it is not measured before that; or when it was
                           measured last */
    int64_t bytes;    /**< an estimate; -1: not needed */
    int above_limit;  /**< it is above AppMemoryLimit, and to be replaced */
} process_memory_t;

/** Of usage.c; the first two are filled in by sid_scan.c. */
typedef struct {
    int measured;   /**< it was measured once */
    uint64_t cpu;   /**< us that it had used then, with its children */
    int64_t memory; /**< bytes that it had then */
    uint64_t known; /**< us of CPU time that its app has got */
    int is_begun;   /**< `known` is right: an adopted one is measured first */
} process_usage_t;

/** Of stuck_report.c. */
typedef struct {
    int reported;       /**< the report before its end was begun */
    int dumped;         /**< that report has ended, or is not waited for: the
                             process got AppDumpSignal, if there is one */
    int64_t may_end_at; /**< us: it may be ended from then on */
} process_stuck_t;

/** Of mark_scan.c. */
typedef struct {
    int signal;  /**< that the next scan sends to what has its mark; -1: none */
    int scanned; /**< the scan that runs includes that */
    int found;   /**< 1: something has its mark; 0: nothing; -1: not known */
} process_marks_t;

/** Of sid_scan.c: the processes of its session or of its cgroup. */
typedef struct {
    uint64_t signals; /**< that the next scan sends: bit N is signal N */
    int wanted;       /**< the next scan looks for it */
    int measure;      /**< and adds up what it uses: MEASURE_* */
    int scanned;      /**< the scan that runs looks for it, and began after its
                           leader's death */
    int found;        /**< 1: something runs; 0: nothing; -1: not known */
    int sent_kill;    /**< what was left of it got SIGKILL */
    int survived;     /**< and still ran when a later scan began */
} process_session_t;

enum { MEASURE_LIMIT = 1, MEASURE_USAGE = 2 };

/** Of template.c: fields that only a template uses. */
typedef struct {
    int orders;        /**< our end of the socket for its orders; -1: none */
    uint64_t code;     /**< apl_template_need_t.code, as it began to load */
    int preload;       /**< CONTRACT_PRELOAD_* of its app by then */
    int64_t used_at;   /**< us: when it became ready, or forked the last one */
    uint64_t forked;   /**< processes that it has forked */
    int64_t failed_at; /**< us: since its last fork; 0: it has not failed */
    int noted;         /**< its failure or its death is noted */
} process_template_t;

enum {
    FORKING_NOT,     /**< it has a pid, or is a template */
    FORKING_WAITS,   /**< for a template */
    FORKING_ORDERED, /**< the template has the order */
    FORKING_EXECUTE  /**< its command is executed instead */
};

/** Of fork_start.c: the start of a process by a template. */
typedef struct {
    int state;             /**< FORKING_* */
    int go;                /**< write end of its pipe "go"; -1 */
    uint64_t template_id;  /**< that has the order */
    uint64_t ordered;      /**< clock ticks: when that was */
    int64_t ordered_at;    /**< us: the same */
    int32_t killed;        /**< pid of a forked process that did not get its
                               "go"; 0 */
    uint64_t killed_start; /**< clock ticks since boot: when that began */
    int64_t clear_by;      /**< us: when nothing of that may be left; 0: no
                               process was found to be left yet */
} process_forking_t;

enum { PHASE_BOOTING, PHASE_LIVE, PHASE_ENDING, PHASE_KILLED };

/** A process of an app. */
typedef struct process {
    struct process *next; /**< process.c */
    uint32_t record;      /**< its index in the registry */
    registry_record_t is;
    char label[64];
    int phase;          /**< life.c */
    int64_t deadline;   /**< us: life.c: of the phase */
    int child;          /**< it is a child of ours; 0: adopted by pidfd */
    int64_t adopted_at; /**< us: adopt.c: when it was taken over; 0 */
    int unwatched;      /**< adopt.c: there was no descriptor for that yet */
    int gone;           /**< the leader is dead and reaped */
    int done;           /**< nothing is left, and it can be freed */
    int64_t live_since; /**< us, apl_now(): when it became ready; 0: not seen */
    int has_stayed;     /**< phase.c: its start is a success */
    int unkillable;     /**< it survives SIGKILL, and that is known */
    int64_t slow_check_at; /**< us: stuck_report.c: no report before that */
    process_app_t app;
    process_start_t start;
    process_slow_start_t slow_start;
    process_ready_t ready;
    process_wrong_port_t wrong_port;
    warmup_t warmup;
    process_slot_t slot;
    process_abandoned_t abandoned;
    process_cut_t cut;
    process_memory_t memory;
    process_usage_t usage;
    process_stuck_t stuck;
    process_marks_t marks;
    process_session_t session;
    process_template_t template;
    process_forking_t forking;
    process_end_t end;
    output_t output; /**< output.c */
    loop_source_t pidfd, reports, fifo, notify;
} process_t;

typedef struct spawner {
    apr_pool_t *pool;
    apl_pool_t shm;
    runtime_dir_t rt;
    char instance[17];
    const store_figures_t *figures; /**< of the store; NULL: there are none */
    const char *helpers; /**< directory of the language helpers, or NULL */
    app_table_t *table;
    process_t *processes;
    apr_hash_t *by_id, *by_child, *by_port; /**< of them: process.c */
    int64_t now;               /**< us, apl_now(): of this turn of the loop */
    int64_t wake;              /**< us: the next turn, at the latest */
    int64_t abandoned_at;      /**< us: abandoned.c: no check before that */
    int64_t damaged_at;        /**< us: the last damage of the segment; 0 */
    struct rlimit descriptors; /**< RLIMIT_NOFILE as httpd was started with */
    int stopping;
    int unreaped; /**< children may be dead: life_reap() is due */
    int rung; /**< the doorbell rang, or a child of httpd died: check at once */
} spawner_t;

/** The spawner of this program; for callbacks that get a process only. */
spawner_t *state_spawner(void);

/** Is it a template? Then it has no slot, and serves nothing. */
static inline int state_is_template(const process_t *p)
{
    return p->is.kind == REGISTRY_TEMPLATE;
}

/** The next turn of the loop begins at `at`, at the latest. */
static inline void state_wake(spawner_t *s, int64_t at)
{
    if (at < s->wake)
        s->wake = at;
}

#endif
