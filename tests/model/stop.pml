/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A child of httpd ends while a request of it begins to wait, on a processor
 * that may show a store later than a load that follows it (x86).
 *
 *     model         code
 *     sleeper       apl_checkout(): a slot that no one had before, WAITING;
 *                   then apl_checkout_wait(): bell, poll, stopping?, sleep
 *     stopper       apl_checkout_stop(): stopping, then mark and wake those
 *                   that wait, up to the last slot there is
 *     buffer        the stopper's processor: `stopping` is stored, and not yet
 *                   seen; a fence or a locked instruction (the mark) waits
 *                   for it. The sleeper's stores are seen when the lock is
 *                   given back
 *
 * Proved: the sleeper learns it without the end of a slice. */

bool waits, asleep; /* the slot */
byte top, bell;
bool buffer, stopping;
bool left;

active proctype sleeper()
{
    byte seen;

    atomic {
        top = 1;
        waits = true
    };
wait:
    seen = bell;
    atomic {
        if
        :: stopping -> goto end
        :: else
        fi
    };
    atomic {
        if
        :: bell == seen -> asleep = true
        :: else
        fi
    };
    !asleep;
    goto wait;
end:
    left = true
}

active proctype stopper()
{
    byte last;

#ifdef M_TOP_FIRST
    last = top;
#endif
    buffer = true;
#ifndef M_NO_FENCE
    !buffer;
#endif
#ifndef M_TOP_FIRST
    last = top;
#endif
    if
    :: last >= 1 && waits ->
        !buffer;
#ifndef M_NO_MARK
        bell++;
#endif
        asleep = false
    :: else
    fi
}

active proctype store_buffer()
{
    atomic {
        buffer -> buffer = false;
        stopping = true
    }
}

init {
    timeout -> assert(left)
}
