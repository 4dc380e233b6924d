/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/directives.h"

#include <http_core.h>
#include <stddef.h>

#include "mod_apppool/config/error_format.h"
#include "mod_apppool/config/php_directives.h"
#include "mod_apppool/config/removed.h"
#include "mod_apppool/config/renamed.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "mod_apppool/config/set.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/config/store_cluster.h"
#include "mod_apppool/config/store_key.h"
#include "mod_apppool/config/store_user.h"
#include "mod_apppool/config/value.h"
#include "base/contract.h"

#define IN_SERVER  RSRC_CONF
#define IN_STATUS  ACCESS_CONF
#define IN_REQUEST (RSRC_CONF | ACCESS_CONF)
#define IN_GROUP   (RSRC_CONF | ACCESS_CONF)
#define IN_KEPT    (RSRC_CONF | ACCESS_CONF)
#define IN_SENT    (RSRC_CONF | ACCESS_CONF)
#define IN_POOL    (RSRC_CONF | ACCESS_CONF)

#define SET_SWITCH apppool_value_switch
#define SET_TIME   apppool_value_time
#define SET_NUMBER apppool_value_number
#define SET_SIZE   apppool_value_size
#define SET_SIGNAL apppool_value_signal
#define SET_TEXT   apppool_value_text
#define SET_PATH   apppool_value_path
#define SET_WORD   apppool_value_word
#define SET_PAIR   apppool_value_word

const command_rec apppool_directives[] = {
#define OWN(arguments, function, scope, kind, name, class, field, otherwise,   \
            key, range, help)                                                  \
    AP_INIT_##arguments(#name, function,                                       \
                        (void *)&apppool_settings[APPPOOL_##name], IN_##scope, \
                        help),
#define SECOND_VALUE(...)
#define SETTING(scope, kind, name, class, field, otherwise, key, range, help)  \
    AP_INIT_TAKE1(#name, SET_##kind,                                           \
                  (void *)&apppool_settings[APPPOOL_##name], IN_##scope,       \
                  help),
#include "base/settings.def"
    APPPOOL_RENAMED,
    APPPOOL_REMOVED,
    APPPOOL_PHP_DIRECTIVES,
    APPPOOL_ERROR_FORMAT,
    {0},
};
