/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file contract.h
 * @brief What httpd's parent, the watchdog and the spawner agree on:
 *        programs, descriptors, arguments, exit codes, names in the runtime
 *        directory.
 *
 *     httpd parent --exec--> apppool-watchdog DIR --exec--> apppool-spawner DIR
 *
 * Both programs get the same open descriptors. Everything else is in files of
 * the runtime directory, so each program may be replaced at any time.
 */
#ifndef APPPOOL_SPAWNER_SHARED_CONTRACT_H
#define APPPOOL_SPAWNER_SHARED_CONTRACT_H

#include <inttypes.h>

/**
 * Goes up with each change of this file, of the app table or of the registry
 * that a helper program of the build before would not understand; or with a new
 * use of the segment that is in the way of httpd's children of the build before,
 * which go on after a graceful restart. That restart compares it: if the
 * contract or the layout of the segment differs, the new build starts an
 * instance of its own.
 */
#define CONTRACT_VERSION          12

#define CONTRACT_TEXT_(x)         #x
#define CONTRACT_TEXT(x)          CONTRACT_TEXT_(x)

#define CONTRACT_WATCHDOG_PROGRAM "apppool-watchdog"
#define CONTRACT_SPAWNER_PROGRAM  "apppool-spawner"
/** Beside them: the directory of the language helpers (helpers/). */
#define CONTRACT_HELPERS          "helpers"
/** The spawner's program when it writes a log
 * (spawner/output/log_program.h). */
#define CONTRACT_LOG_PROGRAM      "apppool-log"
/** What they say to --version; of the spawner, a format for APL_LAYOUT. */
#define CONTRACT_WATCHDOG_VERSION                                              \
    CONTRACT_WATCHDOG_PROGRAM                                                  \
    " " APPPOOL_VERSION " (contract " CONTRACT_TEXT(CONTRACT_VERSION) ")"
#define CONTRACT_SPAWNER_VERSION                                               \
    CONTRACT_SPAWNER_PROGRAM " " APPPOOL_VERSION " (contract " CONTRACT_TEXT(  \
        CONTRACT_VERSION) ", layout %016" PRIx64 ")"

/* Descriptors, besides /dev/null. */

/** httpd's stderr: gets the lines while the error log cannot be opened. Stderr
 * itself is a file for the reason of an abort (stderr_file.h). */
#define CONTRACT_LOG_FD             1
/** Read end of the life pipe: EOF when no process of httpd uses the instance
 * any more. */
#define CONTRACT_LIFE_FD            3
/** eventfd: the segment has work for the spawner. */
#define CONTRACT_DOORBELL_FD        4
/** The runtime directory's lock file, flock'ed. */
#define CONTRACT_LOCK_FD            5
/** pidfd of httpd's parent. */
#define CONTRACT_PARENT_FD          6
/** The segment. The watchdog only passes it on. */
#define CONTRACT_SEGMENT_FD         7
/** The program of the spawner, so that all programs are of one build. */
#define CONTRACT_PROGRAM_FD         8
/** The parking lot (parking.h), or /dev/null. The watchdog only passes it
 * on. */
#define CONTRACT_PARKING_FD         9
#define CONTRACT_SELF_FD            10 /* the watchdog's program; to close */
#define CONTRACT_LAST_FD            9

/** Second argument: end all applications, then the program itself. */
#define CONTRACT_STOP               "--stop"

/** s: the time that httpd's children have to finish after their parent died. */
#define CONTRACT_ORPHANS            30

/* Exit codes. Any other, or a signal, means: start me again. */
#define CONTRACT_EXIT_DONE          0  /* everything is cleaned up */
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
#define CONTRACT_USERS              "c" /* c/UID: the same for an app's user */
#define CONTRACT_SPAWNER            "spawner.pid" /* "PID START\n" */
#define CONTRACT_CURRENT            "current"     /* link to the newest one */
#define CONTRACT_INSTANCE           "instance" /* the mark's first half, hex */
#define CONTRACT_ERRORLOG           "errorlog" /* link to httpd's error log */
#define CONTRACT_SOCKETS            "s" /* s/ID: what httpd connects to */
#define CONTRACT_OWN                "a" /* a/ID/s: sockets apps bind */
#define CONTRACT_OUTPUT             "o" /* o/ID: FIFOs of stdout, stderr */
#define CONTRACT_NOTIFY             "n" /* n/ID: $NOTIFY_SOCKET */
#define CONTRACT_FAILURES           "e" /* e/KEY: why an app failed to start */

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
