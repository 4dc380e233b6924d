/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file settings.h
 * @brief The kinds of values in settings.def, and the fields for them in the
 *        structs that module and spawner make of an application.
 */
#ifndef APPPOOL_BASE_SETTINGS_H
#define APPPOOL_BASE_SETTINGS_H

#include <stdint.h>

typedef enum {
    SETTINGS_SWITCH,
    SETTINGS_TIME,
    SETTINGS_NUMBER,
    SETTINGS_SIZE,
    SETTINGS_SIGNAL,
    SETTINGS_TEXT,
    SETTINGS_PATH,
    SETTINGS_WORD,
    SETTINGS_PAIR,
    SETTINGS_OTHER
} settings_kind_t;

/* How a value is kept as it was set: as a NUMBER of 64 bits, a TEXT, or in some
 * OTHER way. SETTINGS_AS(MERGE_, TIME) is MERGE_NUMBER. */
#define SETTINGS_AS_SWITCH          NUMBER
#define SETTINGS_AS_TIME            NUMBER
#define SETTINGS_AS_NUMBER          NUMBER
#define SETTINGS_AS_SIZE            NUMBER
#define SETTINGS_AS_SIGNAL          NUMBER
#define SETTINGS_AS_TEXT            TEXT
#define SETTINGS_AS_PATH            TEXT
#define SETTINGS_AS_WORD            NUMBER
#define SETTINGS_AS_PAIR            NUMBER
#define SETTINGS_AS_OTHER           OTHER
#define SETTINGS_AS(what, kind)     SETTINGS_JOIN(what, SETTINGS_AS_##kind)
#define SETTINGS_JOIN(what, as)     SETTINGS_JOIN_(what, as)
#define SETTINGS_JOIN_(what, as)    what##as

/* What is made of it for an application. */
#define SETTINGS_MADE_SWITCH(field) int field;
#define SETTINGS_MADE_TIME(field)   int64_t field;
#define SETTINGS_MADE_NUMBER(field) uint32_t field;
#define SETTINGS_MADE_SIZE(field)   int64_t field;
#define SETTINGS_MADE_SIGNAL(field) int field;
#define SETTINGS_MADE_TEXT(field)   const char *field;
#define SETTINGS_MADE_PATH(field)   const char *field;
#define SETTINGS_MADE_WORD(field)   uint32_t field;
#define SETTINGS_MADE_PAIR(field)   int field;

#endif
