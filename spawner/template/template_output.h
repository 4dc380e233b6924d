/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file template_output.h
 * @brief The output of a template that has ended. A process that it has forked
 *        may still print there: a logger that was made while the code was loaded
 *        has a copy of descriptor 1, or has opened /dev/stdout.
 *
 * The helpers for Ruby and Python give a new process its own output in place of
 * such descriptors (doc/template.md). Another template may not do that. Without
 * a reader, the process would fail in write(), or wait there for ever.
 *
 * So the FIFO of a template is read until its last writer is gone, and its lines
 * have the name of the template. It is not read any longer than a process lives
 * that the template has forked. So an app has no more such FIFOs than processes,
 * even if it has passed the descriptor on to a process that is not its own.
 *
 * Crash:  the record of the template stays in the registry, and says that only
 *         its output is left. The next spawner reads on. While there is none, a
 *         descriptor that is open for writing only has no reader.
 * Trust:  as output.h.
 */
#ifndef APPPOOL_SPAWNER_TEMPLATE_TEMPLATE_OUTPUT_H
#define APPPOOL_SPAWNER_TEMPLATE_TEMPLATE_OUTPUT_H

#include "spawner/process/state.h"

/** Nothing of this process runs any more: is it a template whose output is
 * still read? Then its record says so. @return 0: no, its FIFO can be closed */
int template_output_stays(spawner_t *s, process_t *p);

#endif
