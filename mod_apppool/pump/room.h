/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file room.h
 * @brief Which connections may leave their worker, and how many.
 *
 * A child of event accepts no connections while it has too many, and those of
 * the pump count: as many as its threads, and AsyncRequestWorkerFactor for each
 * idle one (server/mpm/event/event.c, connections_above_limit()). So the pump
 * of a child has at most half of what that factor allows: while half of its
 * threads are idle, the child accepts as many other connections as it has
 * threads. It also has at most half of the child's descriptors.
 *
 * A filter that waits would make all connections wait. So only those of known
 * filters leave their worker.
 */
#ifndef MOD_APPPOOL_PUMP_ROOM_H
#define MOD_APPPOOL_PUMP_ROOM_H

#include <httpd.h>

/** For each child of httpd. Call it when the MPM has checked its own
 * configuration.
 * @param limit set: what allows no more, for a sentence
 * @return 0: none, this MPM cannot do it */
uint32_t apppool_room_most(const char **limit);

/** @return the AsyncRequestWorkerFactor for n of them in a child; 0: this MPM
 * cannot do it */
uint32_t apppool_room_factor(uint32_t n);

/** May the connection of this request leave its worker? */
int apppool_room_is_suitable(const request_rec *r);

#endif
