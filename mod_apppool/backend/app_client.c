/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/app_client.h"

/* Does the method only read? httpd has one number for GET and HEAD. */
static int is_safe(const request_rec *r)
{
    return r->method_number == M_GET || r->method_number == M_OPTIONS;
}

/* The app may have acted on a part of a body. */
int apppool_app_client_may_repeat(const request_rec *r, int has_body)
{
    return !has_body && is_safe(r);
}
