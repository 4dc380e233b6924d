/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file doctor.h
 * @brief apppoolctl doctor: looks at the configuration of httpd and at all that
 *        runs, and says what to do. It changes nothing. A part for each file.
 */
#ifndef APPPOOL_CTL_DOCTOR_H
#define APPPOOL_CTL_DOCTOR_H

#include <jansson.h>
#include <sys/types.h>

#include "shm/view/view.h"

/* doctor_findings.c: the list of findings. */

/** What was found, so far. */
typedef struct {
    const char *dir;  /**< the runtime directory; NULL: there is none */
    json_t *report;   /**< the status; NULL: there is none */
    json_t *findings; /**< {"check", "result", "text", "advice"} */
    pid_t httpd;      /**< the parent process of httpd; 0: not known */
    pid_t spawner;    /**< 0: it does not run */
    int wrong;        /**< number of findings that are so */
    int tested;       /**< 1: httpd -t has run */
} doctor_t;

/** All is well. @param check a word for what was looked at */
void doctor_fine(doctor_t *d, const char *check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Nobody can say. */
void doctor_unknown(doctor_t *d, const char *check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Something is wrong. @param advice what to do */
void doctor_wrong(doctor_t *d, const char *check, const char *advice,
                  const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Print them. @param raw 1: as JSON */
void doctor_print(const doctor_t *d, int raw);

/* doctor_instance.c: the programs and files of the instance that runs. */

/** Find its processes, and ask for the status: to be called first. */
void doctor_instance_begin(doctor_t *d);

/** Watchdog, spawner and store, and the shared memory. */
void doctor_instance_programs(doctor_t *d);

/** Disks and descriptors. */
void doctor_instance_room(doctor_t *d);

/* httpd_test.c: finds the httpd that runs, and has it test its configuration
 * as it was started: program, words, environment and directory are those of
 * its parent process. If none runs, the command of the distribution is used.
 *
 * Trust: the program is executed with our rights. So a process counts as httpd
 *        only if it has our module, and if it runs as our user: as root for
 *        root. Whatever the files of the runtime directory say, root runs
 *        nothing that root does not run already. */

/** @param spawner 0: it does not run @return 0: it is not known */
pid_t httpd_test_parent(const char *dir, pid_t spawner);

#define HTTPD_TEST_TEXT 4096
#define HTTPD_TEST_NONE (-2)

/**
 * Run httpd -t.
 * @param given NULL, or the command that starts httpd, for /bin/sh
 * @param lines what it prints, without time and level; appended to
 * @param text  filled in: the command line
 * @return its exit status; HTTPD_TEST_NONE: there is no command; -1: it did not
 *         end properly
 */
int httpd_test_run(pid_t parent, const char *given, json_t *lines,
                   char text[HTTPD_TEST_TEXT]);

#endif
