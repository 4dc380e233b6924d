/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/watchdog/throttle.h"

#define PAYS  2000 /* ms of life for one death */
#define FREE  5    /* deaths in a row */
#define LIMIT 10   /* s */

int throttle_died(throttle_t *t, int64_t lived)
{
    int64_t paid = lived / PAYS;

    t->debt = paid >= t->debt ? 0 : t->debt - (int)paid;
    if (t->debt < FREE + LIMIT)
        t->debt++;
    return t->debt > FREE ? t->debt - FREE : 0;
}
