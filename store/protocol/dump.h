/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file dump.h
 * @brief All keys of a space: `lru_crawler metadump all` and `keys`, also of
 *        the binary protocol.
 *
 * In text, `keys` leaves out keys with a line end. A metadump has them: it
 * writes each key with %XX.
 *
 * The buckets are looked at in slices. An item that is there during the whole
 * dump is in it once.
 *
 * Lock:  one bucket at a time. A line is copied under it, and no memory is
 *        allocated there.
 */
#ifndef APPPOOL_STORE_PROTOCOL_DUMP_H
#define APPPOOL_STORE_PROTOCOL_DUMP_H

#include "store/protocol/dialogue_state.h"
#include "store/protocol/token.h"

/** @return 0: the line is another command */
int store_dump_begin(store_dialogue_t *, const store_tokens_t *);

/** Begin a list of keys. @param prefix n = 0: all keys */
void store_dump_keys(store_dialogue_t *, store_token_t prefix);

/** The next slice. After the last one, the phase is STORE_PHASE_COMMAND. */
void store_dump_slice(store_dialogue_t *, store_reply_t *);

#endif
