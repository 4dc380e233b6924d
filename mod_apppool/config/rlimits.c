/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/rlimits.h"

#include <http_core.h>

#include "mod_apppool/config/config.h"

/* httpd's settings of the <Location> of the AppRoot: the section that has our
 * settings, too. NULL: the AppRoot is in no section. */
static const core_dir_config *section_of(const apppool_mount_t *mount)
{
    const core_server_config *server =
        ap_get_core_module_config(mount->server->module_config);
    int i;

    for (i = 0; mount->section && i < server->sec_url->nelts; i++) {
        ap_conf_vector_t *section =
            APR_ARRAY_IDX(server->sec_url, i, ap_conf_vector_t *);

        if (ap_get_module_config(section, &apppool_module) == mount->section)
            return ap_get_core_module_config(section);
    }
    return NULL;
}

apppool_rlimits_t apppool_rlimits_of(const apppool_mount_t *mount)
{
    const core_dir_config *own =
        ap_get_core_module_config(mount->server->lookup_defaults);
    const core_dir_config *over = section_of(mount);
    apppool_rlimits_t limits = {own->limit_cpu, own->limit_mem,
                                own->limit_nproc};

    if (over && over->limit_cpu)
        limits.cpu = over->limit_cpu;
    if (over && over->limit_mem)
        limits.mem = over->limit_mem;
    if (over && over->limit_nproc)
        limits.nproc = over->limit_nproc;
    return limits;
}

static int same(const struct rlimit *a, const struct rlimit *b)
{
    return a == b ||
           (a && b && a->rlim_cur == b->rlim_cur && a->rlim_max == b->rlim_max);
}

int apppool_rlimits_equal(const apppool_rlimits_t *a,
                          const apppool_rlimits_t *b)
{
    return same(a->cpu, b->cpu) && same(a->mem, b->mem) &&
           same(a->nproc, b->nproc);
}
