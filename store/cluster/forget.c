/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/forget.h"

#include <stddef.h>

#include "store/cluster/follower_state.h"
#include "store/cluster/role.h"
#include "store/note.h"

const char *store_forget(void)
{
    store_follower_state_t s;

    if (store_role() != STORE_SLAVE)
        return "this store is no slave";
    store_follower_state(&s);
    if (s.connected)
        return "this slave follows its master already";
    store_follower_state_forgets();
    store_note(STORE_WARN, "the items of this host are not wanted any more: it "
                           "takes the copy of the next master that it meets");
    return NULL;
}
