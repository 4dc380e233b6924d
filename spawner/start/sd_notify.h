/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sd_notify.h
 * @brief Reads $NOTIFY_SOCKET: the messages of apps, in the format of systemd.
 *
 * READY=1    The app serves. It must also accept a connection, because some
 *            servers say READY=1 before their code is loaded.
 * STOPPING=1 The app wants no more requests and will end by itself.
 *
 * Trust:  any process of the app's user may send. Other messages are ignored.
 */
#ifndef APPPOOL_SPAWNER_START_SD_NOTIFY_H
#define APPPOOL_SPAWNER_START_SD_NOTIFY_H

#include <stdint.h>

/** loop_ready_t of a process's notify socket. */
void sd_notify_read(void *owner, uint32_t events);

#endif
