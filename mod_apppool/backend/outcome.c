/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/outcome.h"

/* The app may have acted on a part of a body. A reset of a TCP connection says
 * less than a reset of a Unix socket: the app may have caused it on purpose. */
int apppool_outcome_may_repeat(const request_rec *r, int has_body, int local)
{
    return !has_body && (local || apppool_outcome_is_safe(r));
}
