/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Kills and breaks for the threads of lock.pml. */

proctype killer()
{
    byte left = KILLS, who;

    do
    :: left > 0 ->
        left--;
        select(who : 1 .. N);
        atomic {
            if
            :: exists[who] && !killed[who] ->
                killed[who] = true;
                if
                :: LOST -> pending[who] = false
                :: else
                fi;
                if
                :: inside == who -> inside = 0; torn = true
                :: else
                fi
            :: else
            fi;
            who = 0
        }
    :: left == 0 -> break
    od
}

/* Sees a thread inside, and breaks the lock without another check that the
 * thread is still inside. */
proctype breaker()
{
    byte me = 0, left = BREAKS, v;

    do
    :: left > 0 ->
        left--;
        atomic {
            v = word;
            if
            :: (v & TID) == 0 -> v = 0
            :: (v & TID) != 0
            fi
        };
        atomic {
            if
            :: v != 0 && word == v ->
                word = WAITERS | OWNER_DIED;
                torn = true;
                inside = 0;
                owing[me] = true
            :: else -> v = 0
            fi
        };
        atomic {
            if
            :: v != 0 -> wake()
            :: else
            fi;
            v = 0
        }
    :: left == 0 -> break
    od
}
