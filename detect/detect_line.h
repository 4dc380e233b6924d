/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file detect_line.h
 * @brief The command of an app as it is run: the line that sh gets, what the
 *        program has to know, and what has to be said about it.
 *
 * The command comes from an AppCommand or from the files of the app. Where it
 * names a server that has an option for a socket that was made for it, and
 * AppListen is fd, the server gets that option. A program that starts the
 * server as its child process (npx, uv run) is left out where the server is
 * there.
 *
 * It reads the current directory, with the rights of the app's user. Only
 * detect_line_judge() reads no file.
 */
#ifndef APPPOOL_DETECT_DETECT_LINE_H
#define APPPOOL_DETECT_DETECT_LINE_H

#include "detect/detect_found.h"

#define DETECT_LINE_NOTES 4
#define DETECT_LINE_NOTE  320

/** Clauses about a command. */
typedef struct {
    int n;
    char text[DETECT_LINE_NOTES][DETECT_LINE_NOTE];
} detect_notes_t;

typedef struct {
    char *command; /**< what is run, as it is shown; malloc() */
    char *line;    /**< what sh -c gets: with `exec`; malloc() */
    int uses_port; /**< PORT has to be a number, though nobody listens there */
    int runs_node, runs_ruby; /**< it gets our helper of that language */
    detect_package_t package; /**< of the script of npm; empty: none */
    detect_notes_t notes;
} detect_line_t;

/**
 * @param command       stays the caller's
 * @param found         what is known of it
 * @param listen        APL_LISTEN_*
 * @param is_production AppEnvironment is production
 * @return 0: no memory
 */
int detect_line(const char *command, const detect_found_t *found,
                uint32_t listen, int is_production, detect_line_t *line);

void detect_line_free(detect_line_t *line);

/** What is said about any command: it is a development server (which is right
 * where is_production is 0), it runs other commands first, or nobody knows
 * whether its program gets the socket. */
void detect_line_judge(const char *command, uint32_t listen, int is_production,
                       detect_notes_t *notes);

#endif
