/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file contract.h
 * @brief What httpd's parent, the watchdog, the spawner and the store agree on:
 *        programs, descriptors, arguments, exit codes, names in the runtime
 *        directory.
 *
 *     httpd parent --exec--> apppool-watchdog DIR --exec--> apppool-spawner DIR
 *                                                 --exec--> apppool-store DIR
 *
 * The watchdog gets all descriptors below, and passes on those that a program
 * needs. Everything else is in files of the runtime directory, so each program
 * may be replaced at any time.
 *
 * The store is started only while there is a file CONTRACT_STORE_TABLE. It
 * begins as root and then becomes the owner of the directory CONTRACT_STORES.
 */
#ifndef APPPOOL_BASE_CONTRACT_H
#define APPPOOL_BASE_CONTRACT_H

#include <inttypes.h>

/**
 * This number goes up in two cases: a helper program of the build before would
 * not understand a change of this file, of the app table or of the registry; or
 * a new use of the segment would disturb httpd's children of the build before,
 * which continue after a graceful restart. That restart compares the number. If
 * the contract or the layout of the segment differs, the new build starts an
 * instance of its own. The format of the store's memory, of its figures and of
 * its table are parts of the contract, too.
 */
#define CONTRACT_VERSION          18

#define CONTRACT_TEXT_(x)         #x
#define CONTRACT_TEXT(x)          CONTRACT_TEXT_(x)

#define CONTRACT_WATCHDOG_PROGRAM "apppool-watchdog"
#define CONTRACT_SPAWNER_PROGRAM  "apppool-spawner"
#define CONTRACT_STORE_PROGRAM    "apppool-store"
/** Beside them: the directory of the language helpers (helpers/). */
#define CONTRACT_HELPERS          "helpers"
/** The spawner's program when it writes a log
 * (spawner/output/log_program.c). */
#define CONTRACT_LOG_PROGRAM      "apppool-log"
/** What they print for --version. For the spawner it is a format for
 * APL_LAYOUT. */
#define CONTRACT_WATCHDOG_VERSION                                              \
    CONTRACT_WATCHDOG_PROGRAM                                                  \
    " " APPPOOL_VERSION " (contract " CONTRACT_TEXT(CONTRACT_VERSION) ")"
#define CONTRACT_SPAWNER_VERSION                                               \
    CONTRACT_SPAWNER_PROGRAM " " APPPOOL_VERSION " (contract " CONTRACT_TEXT(  \
        CONTRACT_VERSION) ", layout %016" PRIx64 ")"
#define CONTRACT_STORE_VERSION                                                 \
    CONTRACT_STORE_PROGRAM                                                     \
    " " APPPOOL_VERSION " (contract " CONTRACT_TEXT(CONTRACT_VERSION) ")"

/** Values of AppPreload. */
enum {
    CONTRACT_PRELOAD_OFF,
    CONTRACT_PRELOAD_ON,
    CONTRACT_PRELOAD_AUTO /**< where the files show something that is known to
                               bear it */
};

/* Descriptors, besides /dev/null. */

/** httpd's stderr: gets the lines while the error log cannot be opened. Stderr
 * itself is a file for the reason of an abort (stderr_file.h). */
#define CONTRACT_LOG_FD           1
/** Read end of the life pipe: EOF when no process of httpd uses the instance
 * any more. */
#define CONTRACT_LIFE_FD          3
/** eventfd: the segment has work for the spawner. */
#define CONTRACT_DOORBELL_FD      4
/** The runtime directory's lock file, flock'ed. */
#define CONTRACT_LOCK_FD          5
/** pidfd of httpd's parent. */
#define CONTRACT_PARENT_FD        6
/** The segment. The watchdog only passes it on. */
#define CONTRACT_SEGMENT_FD       7
/** The program of the spawner, so that all programs are of one build. */
#define CONTRACT_PROGRAM_FD       8
/** The parking lot (parking.h), or /dev/null. The watchdog only passes it
 * on. */
#define CONTRACT_PARKING_FD       9
/** memfd: what the store holds, with all its spaces. It is zero at first, has
 * CONTRACT_ITEMS_SIZE bytes and cannot shrink. Memory is used only for pages
 * that were written. Only the watchdog and the store have it. */
#define CONTRACT_ITEMS_FD         10
/** memfd: the figures of the store. It is zero at first, has
 * CONTRACT_FIGURES_SIZE bytes and cannot shrink. Children of httpd and the
 * spawner only read it. */
#define CONTRACT_FIGURES_FD       11
/** Two ends of a pair of Unix sockets (SOCK_SEQPACKET). The store sends copies
 * of its listening sockets into the one. Its successor reads them from the
 * other one by MSG_PEEK, so they stay there. */
#define CONTRACT_MAILBOX_FD       12
#define CONTRACT_MAILBOX_END_FD   13
/** eventfd: there is a new CONTRACT_STORE_TABLE. */
#define CONTRACT_BELL_FD          14
/** The program of the store. */
#define CONTRACT_STORE_PROGRAM_FD 15
#define CONTRACT_SELF_FD          16 /* the watchdog's program; to close */
#define CONTRACT_LAST_FD          15

/** Descriptors that only the store gets, and those that it does not get. It
 * does not have the lock: when httpd, watchdog and spawner were killed, the
 * next httpd gets the lock and ends the store. Bit n is descriptor n. */
#define CONTRACT_STORE_FDS                                                     \
    (1u << CONTRACT_ITEMS_FD | 1u << CONTRACT_MAILBOX_FD |                     \
     1u << CONTRACT_MAILBOX_END_FD | 1u << CONTRACT_BELL_FD |                  \
     1u << CONTRACT_STORE_PROGRAM_FD)
#define CONTRACT_SPAWNER_FDS                                                   \
    (1u << CONTRACT_DOORBELL_FD | 1u << CONTRACT_LOCK_FD |                     \
     1u << CONTRACT_SEGMENT_FD | 1u << CONTRACT_PROGRAM_FD |                   \
     1u << CONTRACT_PARKING_FD)

/** Bytes: a directory, and 32 GiB for each of 256 spaces. */
#define CONTRACT_ITEMS_SIZE         ((INT64_C(1) << 20) + (INT64_C(256) << 35))
#define CONTRACT_FIGURES_SIZE       (INT64_C(2) << 20)

/** Second argument: end all applications, then the program itself. */
#define CONTRACT_STOP               "--stop"

/** s: the time that httpd's children have to finish after their parent died. */
#define CONTRACT_ORPHANS            30

/** s: AppStoreSaveTime. The store has that long to write its file after
 * SIGTERM, which it gets when the applications have ended; and that much more
 * for the rest. CONTRACT_STORE_SAVE_TIME says how long it is if it is not the
 * default. */
#define CONTRACT_STORE_SAVE_DEFAULT 40
#define CONTRACT_STORE_SAVE_MAX     3600
#define CONTRACT_STORE_REST         8
#define CONTRACT_STORE_EVERY_MAX    86400 /* s: AppStoreSave, 2nd value */
#define CONTRACT_STORE_STOP         (CONTRACT_STORE_SAVE_DEFAULT + CONTRACT_STORE_REST)

/** Of the memfd of items (base/store_format.h). An instance of another build
 * goes on with it if it knows this format. */
#define CONTRACT_STORE_FORMAT       1

/** Bytes of an ErrorLogFormat, as system/log.h knows it, with its NUL. */
#define CONTRACT_FORMAT_MAX         1024

/* Exit codes. Any other, or a signal, means: start me again. */
#define CONTRACT_EXIT_DONE          0  /* everything is cleaned up */
#define CONTRACT_EXIT_AGAIN         75 /* start me at once: another role */
#define CONTRACT_EXIT_REPLACED      76 /* another store goes on: start none */
#define CONTRACT_EXIT_CONFIG        78 /* it makes no sense to start me again */

/* Names in the runtime directory. */
#define CONTRACT_LOCK               "lock"
#define CONTRACT_TABLE              "table"
#define CONTRACT_SPAWNER_STDERR     "spawner.words" /* its stderr */
#define CONTRACT_WATCHDOG_STDERR    "watchdog.words"
#define CONTRACT_SPAWNER_HEARTBEAT  "spawner.beat" /* see heartbeat.h */
#define CONTRACT_WATCHDOG_HEARTBEAT "watchdog.beat"
#define CONTRACT_REGISTRY           "registry"
#define CONTRACT_CONTROL            "control.sock"
#define CONTRACT_USERS              "c" /* c/UID: those of users of apps */
#define CONTRACT_SPAWNER            "spawner.pid" /* "PID START\n" */
#define CONTRACT_CURRENT            "current"     /* link to the newest one */
#define CONTRACT_INSTANCE           "instance" /* the mark's first half, hex */
#define CONTRACT_ERRORLOG           "errorlog" /* link to httpd's error log */
#define CONTRACT_ERRORFORMAT        "errorformat" /* its target: log.h */
#define CONTRACT_SOCKETS            "s" /* s/ID: what httpd connects to */
#define CONTRACT_OWN                "a" /* a/ID/s: sockets apps bind */
#define CONTRACT_OUTPUT             "o" /* o/ID: FIFOs of stdout, stderr */
#define CONTRACT_NOTIFY             "n" /* n/ID: $NOTIFY_SOCKET */
#define CONTRACT_FAILURES           "e" /* e/KEY: why an app failed to start */
#define CONTRACT_SLOW_START         ".slow" /* e/KEY.slow: why it lasts long */
#define CONTRACT_FAILURE_SENTENCE   "sentence" /* name of its line in both */
/** m/KEY: the sockets of spaces; KEY is the key of the name, as in e/KEY. The
 * directory has mode 0711 and belongs to the store's user. */
#define CONTRACT_STORES             "m"
#define CONTRACT_STORE_TABLE        "m/table" /* JSON, 0400, the store's */
#define CONTRACT_STORE_ADMIN        "m/admin" /* control socket of the store */
/** Link to the file of AppStoreSave; none: nothing is saved. It is in the
 * directory of root, because the store opens the file as root. */
#define CONTRACT_STORE_SAVE         "store.save"
/** Link whose target is a number: AppStoreSaveTime, s. The watchdog reads it,
 * and would not read a file of the store's user. */
#define CONTRACT_STORE_SAVE_TIME    "store.time"
/** FIFO: what the store logs (store_log.c). httpd's parent makes it. */
#define CONTRACT_STORE_LOG          "o/store"
/** "PID START\n"; the watchdog writes it, before it executes the program. */
#define CONTRACT_STORE              "store.pid"
#define CONTRACT_STORE_STDERR       "store.words" /* its stderr */
#define CONTRACT_STORE_HEARTBEAT    "store.beat"  /* the store makes it */

/** Bytes of a command to the control socket, its newline included. */
#define CONTRACT_COMMAND_MAX        1024
/** Bytes of a response. */
#define CONTRACT_RESPONSE_MAX       (1 << 28)
/** A runtime directory whose name begins like this was made by httpd's parent,
 * and is removed at the end. */
#define CONTRACT_PREFIX             "apppool-"

/** A process id (uint64_t) in file names and in the status: 16 hex digits.
 * Not "llx", which APR's printf does not know. */
#define CONTRACT_ID_FMT             "%016" PRIx64

/** Bytes of a socket's path that mod_proxy can take, NUL included. */
#define CONTRACT_SOCKET_PATH_MAX    96
/** Maximum length of the runtime directory's path: "/s/" + 16 + NUL, "/a/.../s"
 * have to follow */
#define CONTRACT_RUNTIME_MAX        74

/** Environment variable that marks each process of an app: INSTANCE-ID. */
#define CONTRACT_MARK               "APPPOOL_ID"

#endif
