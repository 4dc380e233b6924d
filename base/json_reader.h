/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file json_reader.h
 * @brief Reads values of a JSON document, and checks each of them.
 *
 * Errors: the first mistake is kept, as a sentence. Values that are read after
 *         it are harmless, but must not be used.
 */
#ifndef APPPOOL_BASE_JSON_READER_H
#define APPPOOL_BASE_JSON_READER_H

#include <apr_hash.h>
#include <apr_pools.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READER_ERROR_MAX 256

/** State of the reader. */
typedef struct {
    apr_pool_t *p;     /**< memory for what is read */
    char *error;       /**< JSON_READER_ERROR_MAX bytes */
    int wrong;         /**< there was a mistake */
    const char *where; /**< name of the app, for the sentence; NULL: none */
    const char *what;  /**< what has that name; NULL: an app */
    apr_hash_t *kept;  /**< for json_reader_keep(), in a pool that ends with the
                            reading; NULL: equal data is kept twice */
} json_reader_t;

void json_reader_refuse(json_reader_t *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** @return a copy of the data, which all that is equal shares. The pointers in
 * a list are equal if they were kept, too */
const void *json_reader_keep(json_reader_t *r, const void *data, size_t n);

/** Keep a text in this way. */
const char *json_reader_keep_text(json_reader_t *r, const char *s);

/** Does a text have control characters? */
int json_reader_has_control(const char *s);

/** A text without control characters. @param nullable 1: it may be null */
const char *json_reader_text(json_reader_t *r, const json_t *o, const char *key,
                             int nullable);

/** A text without control characters and not empty, into `to` of that many
 * bytes, NUL included. It needs no pool. */
void json_reader_copy(json_reader_t *r, const json_t *o, const char *key,
                      char *to, size_t size);

/** An absolute path. */
const char *json_reader_path(json_reader_t *r, const json_t *o, const char *key,
                             int nullable);

/** A whole number from min to max. */
int64_t json_reader_number(json_reader_t *r, const json_t *o, const char *key,
                           int64_t min, int64_t max);

/** A whole number that is not negative. */
uint32_t json_reader_count(json_reader_t *r, const json_t *o, const char *key);

/** A list of at most `max`. @return how many; the list is NULL if it is none */
size_t json_reader_list(json_reader_t *r, const json_t *o, const char *key,
                        size_t max, const json_t **list);

int json_reader_boolean(json_reader_t *r, const json_t *o, const char *key);

/** Seconds; as microseconds. */
int64_t json_reader_duration(json_reader_t *r, const json_t *o,
                             const char *key);

#endif
