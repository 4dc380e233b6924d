/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/parent/instance_store.h"

#include <http_core.h>
#include <http_log.h>
#include <http_main.h>

#include "mod_apppool/config/store.h"
#include "mod_apppool/parent/helper_programs.h"
#include "mod_apppool/parent/store_parts.h"
#include "mod_apppool/parent/store_table_write.h"
#include "mod_apppool/parent/store_takeover.h"
#include "shm/lock/wake.h"
#include "base/contract.h"

APLOG_USE_MODULE(apppool);

#define SAY(rv, ...)                                                           \
    ap_log_error(APLOG_MARK, APLOG_ERR, rv, ap_server_conf,                    \
                 "apppool: " __VA_ARGS__)

#define FD APPPOOL_INSTANCE_FD

void apppool_instance_store_open(apppool_instance_t *i)
{
    apppool_store_parts_t parts;

    i->store_error = apppool_store_parts_make(&parts);
    if (!i->store_error && apppool_store_spaces()->nelts > 0)
        i->store_from = apppool_store_takeover(&i->kept, &parts);
    FD(i, ITEMS) = parts.items;
    FD(i, FIGURES) = parts.figures;
    FD(i, MAILBOX) = parts.mailbox;
    FD(i, MAILBOX_END) = parts.mailbox_end;
    FD(i, BELL) = parts.bell;
    i->kept.figures = parts.figures_map;
    i->kept.figures_length = CONTRACT_FIGURES_SIZE;
}

/* Is everything there that the store was to get when the instance began? */
static int can_have_store(const apppool_instance_t *i, apr_pool_t *ptemp)
{
    int program = FD(i, STORE_PROGRAM);
    const char *wrong = NULL;

    if (program >= 0 && !i->has_store)
        wrong = apppool_helper_programs_check_store(program, ptemp, i->libexec);
    if (program < 0)
        SAY(0,
            "AppStore needs " CONTRACT_STORE_PROGRAM
            ", which was not in %s when httpd started: restart httpd",
            i->libexec);
    else if (wrong)
        SAY(0, "AppStore: %s, and restart httpd", wrong);
    else if (i->store_error)
        SAY(i->store_error,
            "AppStore: cannot make the memory of the store; if httpd has a "
            "limit of file sizes (ulimit -f), remove it");
    else
        return 1;
    return 0;
}

/* Another build may take it over from now on. */
static void publish(apppool_instance_t *i)
{
    i->kept.store_format = CONTRACT_STORE_FORMAT;
    i->kept.store_items = FD(i, ITEMS);
    i->kept.store_mailbox = FD(i, MAILBOX);
    i->kept.store_mailbox_end = FD(i, MAILBOX_END);
    i->kept.store_bell = FD(i, BELL);
}

int apppool_instance_store_write_table(apppool_instance_t *i, server_rec *s,
                                       apr_pool_t *ptemp)
{
    if (apppool_store_spaces()->nelts == 0 && !i->has_store)
        return 0;
    if (!can_have_store(i, ptemp) ||
        apppool_store_table_write(i->kept.runtime, i->kept.base, i->kept.build,
                                  s, ptemp) != 0)
        return 0;
    /* A store that starts reads the table without the bell. */
    if (i->has_store)
        apl_wake_ring(FD(i, BELL));
    i->has_store = 1;
    publish(i);
    return 1;
}

void apppool_instance_store_replace(apppool_instance_t *i)
{
    if (i->store_from && apppool_store_takeover_tell(i->store_from) == 0)
        i->store_from = NULL;
}
