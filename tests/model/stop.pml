/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A child of httpd ends while one of its requests begins to wait. The processor
 * may show a store later than a load that follows it (x86).
 *
 *     model         code
 *     sleeper       apl_checkout(): a slot that was never used, WAITING; then
 *                   apl_checkout_wait(): wake word, poll, stopping?, sleep
 *     stopper       apl_checkout_stop(): store `stopping`, then mark and wake
 *                   the waiters, up to the last slot in use
 *     buffer        the processor of the stopper has stored `stopping`, but
 *                   others do not see it yet. A fence or a locked instruction
 *                   (the mark) waits until they do. The stores of the sleeper
 *                   are seen when it gives the lock back
 *
 * Proved: the sleeper learns of the stop before its slice ends. */

bool waits, asleep; /* the slot */
byte top, wake_word;
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
    seen = wake_word;
    atomic {
        if
        :: stopping -> goto end
        :: else
        fi
    };
    atomic {
        if
        :: wake_word == seen -> asleep = true
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
        wake_word++;
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
