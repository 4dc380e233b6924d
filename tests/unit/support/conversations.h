/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file conversations.h
 * @brief What clients send to the store, in its four protocols.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_CONVERSATIONS_H
#define APPPOOL_TESTS_UNIT_SUPPORT_CONVERSATIONS_H

#include <stddef.h>

typedef struct {
    const char *bytes;
    size_t n;
} conversation_t;

#define CONVERSATIONS 5

extern const conversation_t conversations[CONVERSATIONS];

#endif
