/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rivals.h
 * @brief A master asks the other hosts whether one of them is the master, too.
 *
 * Two hosts have the virtual address if somebody has given it to both of them,
 * or if their keepalived do not hear each other. Both take changes, and one of
 * them will drop its own. So an administrator has to know it while it lasts.
 * Only hosts that reach each other at their own addresses can tell.
 *
 * Who is asked hears which data this host has (peers.h). So of two masters that
 * ask each other, the one with fewer changes is not ready any more, and
 * keepalived takes the address from it.
 *
 * While an address moves, it may be at two hosts for a moment. So two answers
 * have to say the same before it is logged.
 *
 * Lock:  the functions: the main thread.
 * Trust: peers.h. A host that says something else than it is adds lines to the
 *        log, one a minute.
 */
#ifndef APPPOOL_STORE_CLUSTER_RIVALS_H
#define APPPOOL_STORE_CLUSTER_RIVALS_H

#include "store/cluster/cluster.h"

/** This host is the master: start the thread. Without it nothing is told, which
 * is logged. */
void store_rivals_begin(const store_cluster_hooks_t *);

/** End it, if there is one. */
void store_rivals_end(void);

#endif
