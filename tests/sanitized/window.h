/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file window.h
 * @brief The moments that APPPOOL_WINDOW() names last longer: see
 *        mod_apppool/pump/pump.h. The environment says how long, at most:
 *        APPPOOL_WINDOW=20000 is 20 ms.
 *
 * Compilers read it before all others, so it includes no header of libc: these
 * look at macros that a source file is still to define.
 */
#ifndef TESTS_SANITIZED_WINDOW_H
#define TESTS_SANITIZED_WINDOW_H

char *getenv(const char *name);
int atoi(const char *text);
int rand(void);
int usleep(unsigned int us);

static inline void apppool_window(void)
{
    const char *most = getenv("APPPOOL_WINDOW");

    if (most && atoi(most) > 0)
        usleep((unsigned int)(rand() % atoi(most)));
}

#define APPPOOL_WINDOW(name) apppool_window()

#endif
