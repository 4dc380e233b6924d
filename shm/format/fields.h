/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fields.h
 * @brief The types of fields that the slots of format.h have: links, the
 *        identity of a process, the options of an app, its endpoint and wire
 *        protocol.
 *
 * Lock:  as for the slot that has the field.
 * Crash: as for the slot that has the field.
 * Trust: any httpd child can write anything here at any time.
 */
#ifndef APPPOOL_SHM_FORMAT_FIELDS_H
#define APPPOOL_SHM_FORMAT_FIELDS_H

#include <stdint.h>

/** A link of a circular list, or its head: offsets of links, in bytes. */
typedef struct {
    uint32_t next, prev;
} apl_link_t;

/** Children of a heap node and its parent: indexes of processes. */
typedef struct {
    uint32_t left, right, parent;
} apl_node_t;

/** A process of the operating system. A pid alone does not identify it. */
typedef struct {
    int32_t pid;
    uint32_t unused;
    uint64_t start; /**< clock ticks since boot, /proc/PID/stat field 22 */
} apl_identity_t;

/** The options of a group: a copy of the parent's configuration. */
typedef struct {
    uint32_t config;          /**< configuration generation it comes from */
    uint32_t min_instances;   /**< kept when the group was used once */
    uint32_t max_instances;   /**< 0: only the limit of the pool */
    uint32_t max_requests;    /**< 0: no limit */
    uint32_t jitter;          /**< so many more sessions per process */
    uint32_t concurrency;     /**< per process; 0: no limit; AUTO: its own */
    uint32_t max_queue;       /**< waiting requests; more are refused */
    uint32_t global_queue;    /**< 0: each process has a queue of its own */
    uint32_t rolling;         /**< 1: a restart replaces, one by one */
    uint32_t spawn_if_under;  /**< go above limits if fewer are not hung */
    uint32_t hung_extra;      /**< maximum of hung ones that do not count */
    uint32_t unkillable_stop; /**< with so many, no start; 0: no limit */
    int64_t idle_time;        /**< us; 0: idle processes stay */
    int64_t check_interval;   /**< us between two checks of restart.txt */
    int64_t hung_after;       /**< us a request may take; 0: for ever */
    int64_t kill_after;       /**< us until its process is ended; 0: never */
} apl_options_t;

/** A stamp of restart.txt: a number that is another one for another file, and
 * after each change of the file (policy/restart.h). It says nothing about which
 * of two files is the newer one. */
enum {
    APL_STAMP_UNKNOWN, /**< nobody has looked */
    APL_STAMP_NO_FILE
};

/** What httpd has seen of the two files. */
typedef struct {
    uint64_t file;   /**< stamp of restart.txt */
    uint32_t always; /**< always_restart.txt is there */
    uint32_t unused;
} apl_stamp_t;

enum { APL_LISTEN_FD, APL_LISTEN_UNIX, APL_LISTEN_TCP };
enum { APL_HTTP, APL_FCGI, APL_SCGI, APL_UWSGI, APL_AUTO };
#define APL_CONCURRENCY_AUTO UINT32_MAX /* what is found in AppRoot decides */

/** How a process is reached: endpoint and wire protocol, as it was started. */
typedef struct {
    uint16_t listen;      /**< APL_LISTEN_* */
    uint16_t protocol;    /**< APL_HTTP ...; AUTO until it is found */
    uint32_t port;        /**< APL_LISTEN_TCP */
    uint32_t concurrency; /**< it is made for; 0: any; AUTO until found */
} apl_wire_t;

/** What the spawner knows of a process that it has started. */
typedef struct {
    apl_identity_t identity;
    apl_wire_t wire;
    uint64_t stamp; /**< of restart.txt, before its command was executed, or
                         that of its template; UNKNOWN until then */
} apl_start_t;

#endif
