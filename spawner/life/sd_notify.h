/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sd_notify.h
 * @brief $NOTIFY_SOCKET: what apps say of themselves, in systemd's words.
 *
 * READY=1    the app serves. It is believed once it has accepted a connection
 *            as well: some servers say so before their code is loaded.
 * STOPPING=1 it wants no more requests and ends when it likes.
 *
 * Trust:  whatever the app's user sends; all else is ignored.
 */
#ifndef APPPOOL_SPAWNER_LIFE_SD_NOTIFY_H
#define APPPOOL_SPAWNER_LIFE_SD_NOTIFY_H

#include <stdint.h>

/** loop_ready_t of a process's notify socket. */
void sd_notify_read(void *owner, uint32_t events);

#endif
