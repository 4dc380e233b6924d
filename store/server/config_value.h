/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_value.h
 * @brief Values of a JSON object, each of which is checked. For the files of
 *        the configuration only.
 *
 * Errors: the first mistake is kept as a sentence. The functions return
 *         something harmless then, so that the reader can go on.
 */
#ifndef APPPOOL_STORE_SERVER_CONFIG_VALUE_H
#define APPPOOL_STORE_SERVER_CONFIG_VALUE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/** State of the reader. */
typedef struct store_config_value {
    char *error;
    size_t size; /**< bytes of it */
    int wrong;
    const char *what;  /**< "space" or another kind of thing */
    const char *where; /**< the name of this one; NULL: none */
} store_config_value_t;

void store_config_value_refuse(store_config_value_t *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

int64_t store_config_value_number(store_config_value_t *, const json_t *object,
                                  const char *key, int64_t min, int64_t max);

int store_config_value_boolean(store_config_value_t *, const json_t *object,
                               const char *key);

/** A text without control characters, which is not empty. */
void store_config_value_text(store_config_value_t *, const json_t *object,
                             const char *key, char *to, size_t size);

/** A list of at most `max`. @return how many; the list is NULL if it is none */
size_t store_config_value_list(store_config_value_t *, const json_t *object,
                               const char *key, size_t max,
                               const json_t **list);

#endif
