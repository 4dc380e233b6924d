/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file parent.h
 * @brief What httpd's parent does: the life of our instance, the tables that it
 *        writes, and the programs that it starts. A part for each file.
 */
#ifndef MOD_APPPOOL_PARENT_PARENT_H
#define MOD_APPPOOL_PARENT_PARENT_H

#include <httpd.h>
#include <apr_pools.h>
#include <sys/types.h>

#include "shm/format/segment.h"
#include "mod_apppool/parent/retained.h"

/* lifecycle.c: the life of our instance: it starts, stays and ends with httpd.
 * The parent starts the watchdog again, and each child joins the pool.
 *
 *     start      runtime directory, lock, segment, app table, watchdog
 *     graceful   all of that stays; a new app table, and the doorbell rings (of
 *                another build: as at the start; the old instance winds down)
 *     restart    the watchdog ends everything, then as at the start
 *     stop       the same; httpd waits for it
 *
 * instance.h says what stays. Nothing starts before the first configuration
 * with an AppRoot. `httpd -t` and `httpd -k` touch nothing.
 *
 * Lock:  the parent never takes the pool lock.
 * Crash: watchdog killed: the parent starts another within two seconds.
 *        Parent killed: the watchdog sees it by its pidfd, and then waits for
 *        the end of the life pipe. Child killed: the spawner sees it by its
 *        pidfd. A child of prefork ends in its signal handler, wherever it was,
 *        maybe with the pool lock held. So it does not touch the pool when it
 *        ends. Its end is like a kill.
 * Trust: the parent reads nothing from the segment. */

/* The hooks. */
int apppool_lifecycle_pre_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp);
int apppool_lifecycle_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                   apr_pool_t *ptemp, server_rec *s);
int apppool_lifecycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);
int apppool_lifecycle_monitor(apr_pool_t *p, server_rec *s);
void apppool_lifecycle_child_init(apr_pool_t *pchild, server_rec *s);
void apppool_lifecycle_child_stopping(apr_pool_t *pchild, int graceful);

/* app_table_write.c: writes the app table, which httpd's parent makes for the
 * spawner: RUNTIME/table. Its first line is a JSON document that says what
 * holds for all applications, and how many there are. Each line after it is the
 * document of one application.
 *
 * It is written to a new file, which is then renamed. So the spawner sees the
 * old one or the new one. All keys are always there. The spawner ignores keys
 * that it does not know.
 *
 * Crash: an incomplete file has another name and is overwritten next time.
 * Trust: mode 0600: only this file says what is run, and as which user. */

/** What the table has besides the apps of app.h. */
typedef struct {
    const char *runtime;     /**< the directory */
    apl_capacity_t capacity; /**< of the segment */
    apr_uint64_t instance;
    apr_uint32_t generation;
} apppool_app_table_t;

/**
 * Write the table.
 * @return APR_SUCCESS, or what went wrong with the file
 */
apr_status_t apppool_app_table_write(const apppool_app_table_t *table,
                                     server_rec *main_server, apr_pool_t *p);

/* store_table_write.c: writes the store's table, which httpd's parent makes for
 * the store. It is one JSON document in RUNTIME/m/table.
 *
 *     {"contract": 16, "build": "...", "threads": 4, "max_object": 1048576,
 *      "spaces": [{"name": "shop", "key": "<16 hex digits>", "size": 67108864,
 *                  "evict": true, "confirm": "off", "max_connections": 1024,
 *                  "uids": [33]}],
 *      "cluster": {...}, "listens": [...]}     (store_table_cluster.h)
 *
 * It is written to a new file, which is then renamed. What the store
 * needs before it reads the table is made here, too: the directory of its
 * sockets, the FIFO of its log, the directory of its file, and the link
 * RUNTIME/store.save to that file. The link is not in the table, because the
 * store opens the file while it is root.
 *
 * Crash: an incomplete file has another name and is replaced next time.
 * Trust: the directory m/ belongs to the store's user. So the store can put
 *        anything there at any time, and can change its own table. The parent
 *        opens nothing there that exists, follows no link, and reads
 *        nothing. */

/**
 * Write the table.
 * @param runtime the runtime directory of the instance
 * @param base    AppPoolRuntimeDir, whose last part names this httpd
 * @return 0, or -1: that was logged
 */
int apppool_store_table_write(const char *runtime, const char *base,
                              const char *build, server_rec *main_server,
                              apr_pool_t *p);

/* programs.c: checks the helper programs, apppool-watchdog, apppool-spawner and
 * apppool-store: are they there, and do they belong to this build?
 *
 * They are opened when an instance starts, and executed by descriptor from then
 * on, so that an upgrade on disk never mixes builds. Their output for --version
 * is compared with that of this build's programs (base/contract.h).
 * httpd remembers which files were right, so each is executed only once for
 * this.
 *
 * Trust: they belong to the administrator. But a program that hangs, or prints
 *        without end, delays httpd by at most 20 seconds. */

/** The programs, open and close-on-exec. */
typedef struct {
    int watchdog, spawner;
    int store; /**< -1: there is none */
} apppool_programs_t;

/**
 * Open and check the programs of a directory.
 * @param store 1: apppool-store is needed; 0: it may be missing, and is not
 *              checked
 * @return NULL; or the sentence that says what is wrong: nothing is open then
 */
const char *apppool_programs_open(apppool_programs_t *programs, apr_pool_t *p,
                                  const char *libexec, int store);

/** Check apppool-store, which was opened when it was not needed.
 * @return NULL, or the sentence that says what is wrong */
const char *apppool_programs_check_store(int fd, apr_pool_t *p,
                                         const char *libexec);

void apppool_programs_close(apppool_programs_t *programs);

/* exec_program.c: executes a program by its descriptor. So it is the program
 * that was checked, whatever is at its path by now.
 *
 * It gets the descriptors that the caller names, and no others of httpd. It is
 * in a new session, in "/", with default signals. Its environment has only the
 * variables of language and time zone. SIGTERM and SIGHUP are blocked.
 *
 * Trust: the program is the administrator's. */

#define APPPOOL_EXEC_FDS 24 /* at most */

/**
 * @param program descriptor of the program; may be close-on-exec
 * @param argv    ends with NULL; argv[0] is what ps shows
 * @param fds     what the program gets as 0, 1, 2 ...; -1: /dev/null
 * @param n       how many; descriptor n is the program itself
 * @return 0, or errno: also when it cannot be executed
 */
int apppool_exec_program(pid_t *pid, int program, char *const argv[],
                         const int *fds, int n);

/* watchdogs.c: httpd's parent starts and watches apppool-watchdog, which starts
 * apppool-spawner: the one of its own instance, and those of old instances that
 * wind down.
 *
 * A watchdog that dies is started again at once, as long as httpd runs. If it
 * dies at once several times in a row, httpd's monitor starts it, every ten
 * seconds. A watchdog that hangs is killed and replaced, also when it has to
 * stop. An old instance of another build that has ended in good order is
 * forgotten.
 *
 * Crash: see lifecycle.c.
 * Trust: exit codes of our own programs. A watchdog gets the descriptors of
 *        base/contract.h and no others of httpd's (exec_program.c). */

/** Forget watchdogs that ended between two configurations, when httpd did not
 * report it. */
void apppool_watchdogs_collect(void);

/** Start the watchdogs that do not run, and ask httpd to report the end of
 * each. */
void apppool_watchdogs_watch(apr_pool_t *pconf);

/** Kill the watchdogs that hang. Start those again that died too often in a
 * row. Call it from time to time. */
void apppool_watchdogs_check(apr_pool_t *pconf);

/** Tell the watchdog of an instance that the store's table is new. */
void apppool_watchdogs_tell(const apppool_retained_t *r);

/** End all watchdogs, and wait for their ends. */
void apppool_watchdogs_stop(void);

/** End the watchdogs of the instances whose runtime directory was removed, and
 * wait for their ends. The instances are forgotten, but not `own`: see
 * apppool_instance_renew_dir(). @return 0: something of `own` may
 * still run */
int apppool_watchdogs_end_lost(const apppool_retained_t *own);

/** Start one more that ends everything in `runtime`, and then ends itself.
 * @return 0, or errno */
int apppool_watchdogs_end(pid_t *pid, const apppool_retained_t *r,
                          const char *runtime);

/**
 * Wait for the end of one.
 * @param status as of waitpid(); -1: it was no child of ours
 * @return 0: it still runs after `limit` us
 */
int apppool_watchdogs_wait(pid_t pid, apr_interval_time_t limit, int *status);

#endif
