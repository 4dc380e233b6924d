/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_connect.h
 * @brief A connection to the server of a benchmark.
 */
#ifndef APPPOOL_TESTS_BENCH_STORE_CONNECT_H
#define APPPOOL_TESTS_BENCH_STORE_CONNECT_H

/** @param address PATH or HOST:PORT. An error ends the program.
 * @return the descriptor */
int store_connect(const char *address);

#endif
