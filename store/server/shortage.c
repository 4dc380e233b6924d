/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/shortage.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/clock_ms.h"
#include "store/note.h"
#include "store/server/main_loop.h"

void store_shortage(int listener)
{
    static int64_t noted_at;
    int error = errno;

    if (error != EMFILE && error != ENFILE && error != ENOMEM &&
        error != ENOBUFS)
        return;
    store_loop_rest(listener);
    if (store_note_is_due(&noted_at, clock_ms()))
        store_note(STORE_ERROR, "the store cannot accept a connection: %s",
                   strerror(error));
}
