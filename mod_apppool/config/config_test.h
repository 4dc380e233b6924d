/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_test.h
 * @brief What only `httpd -t` looks at, because it takes time for thousands of
 *        applications: files and rights that the first request will need. These
 *        are only warnings, because a site may be configured before it is
 *        deployed.
 *
 * Trust: files are not opened. Their names and modes belong to the users of the
 *        applications.
 */
#ifndef MOD_APPPOOL_CONFIG_CONFIG_TEST_H
#define MOD_APPPOOL_CONFIG_CONFIG_TEST_H

#include <apr_pools.h>

/** Look at all mounts and apps of this configuration, and whether a reload can
 * write the PidFile. @return 0: it cannot, so apachectl must not reload */
int apppool_config_test(apr_pool_t *p);

#endif
