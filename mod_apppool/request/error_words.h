/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_words.h
 * @brief The words of the error pages, for developers, and for visitors that
 *        know nothing of servers.
 */
#ifndef MOD_APPPOOL_REQUEST_ERROR_WORDS_H
#define MOD_APPPOOL_REQUEST_ERROR_WORDS_H

/** What a visitor can be told. */
typedef enum {
    APPPOOL_ERROR_START_FAILED,
    APPPOOL_ERROR_STARTING,
    APPPOOL_ERROR_QUEUE_FULL,
    APPPOOL_ERROR_QUEUE_TIMEOUT,
    APPPOOL_ERROR_DRAINED,
    APPPOOL_ERROR_STOPPING,    /**< httpd is being stopped */
    APPPOOL_ERROR_NO_PROCESS,  /**< none can be had, or it cannot be reached */
    APPPOOL_ERROR_NO_RESPONSE, /**< it died, or sent something else */
    APPPOOL_ERROR_TIMEOUT,     /**< no response in time, or killed */
    APPPOOL_ERROR_LONG_LIVED,  /**< AppMaxLongLived */
    APPPOOL_ERROR_TOO_LARGE,   /**< the body of the request */
    APPPOOL_ERROR_NO_ROOM,     /**< to store that body */
    APPPOOL_ERROR_REQUEST,     /**< the request is not as it should be */
    APPPOOL_ERROR_OTHER
} apppool_error_kind_t;

typedef struct {
    const char *title;
    const char *visitor; /**< what has happened, and what a visitor can do */
    const char *advice;  /**< for the developer */
} apppool_error_words_t;

const apppool_error_words_t *apppool_error_words(apppool_error_kind_t kind);

/** @return an error of this status for which nothing else was noted; -1: that
 * is no error of this module */
int apppool_error_words_kind(int status);

#endif
