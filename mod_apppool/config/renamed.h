/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file renamed.h
 * @brief Directives that had another name before the first release. The old
 *        name is an error that says the new one.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_RENAMED_H
#define MOD_APPPOOL_CONFIG_RENAMED_H

#include <http_core.h>

/** The entries of these directives in a command_rec table. */
#define APPPOOL_RENAMED                                                        \
    APPPOOL_RENAME("AppMaxZombies", "AppMaxUnkillable"),                       \
        APPPOOL_RENAME("AppSlowLog", "AppSlowAfter"),                          \
        APPPOOL_RENAME("AppDyingLimit", "AppHungStopTimeout"),                 \
        APPPOOL_RENAME("AppStatusAllowKill", "AppStatusAllowActions"),         \
        APPPOOL_RENAME("AppMaxLasting", "AppMaxLongLived"),                    \
        APPPOOL_RENAME("AppDrainTimeout", "AppRetireTimeout"),                 \
        APPPOOL_RENAME("AppStatInterval", "AppRestartCheckInterval")

#define APPPOOL_RENAME(old, now)                                               \
    AP_INIT_RAW_ARGS(old, apppool_renamed, (void *)(now), OR_ALL,              \
                     "has another name now: " now)

/** Refuse a directive that has another name now, which is its cmd_data.
 * @return the sentence that says so */
const char *apppool_renamed(cmd_parms *cmd, void *dir, const char *args);

#endif
