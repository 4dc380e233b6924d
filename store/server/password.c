/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/password.h"

#include <pthread.h>
#include <string.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/note.h"
#include "base/secret.h"

typedef struct {
    store_served_t *served;
    char password[STORE_PASSWORD];
} entry_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry_t entries[STORE_SPACES];
static unsigned n_entries;
static int has_secret;
static int64_t failed_at; /* ms: when it was logged; 0: never */

void store_password_update(const store_cluster_t *c)
{
    store_served_t *s;
    entry_t *e;

    pthread_mutex_lock(&lock);
    n_entries = 0;
    for (s = store_spaces_list(); s && n_entries < STORE_SPACES; s = s->next) {
        if (STORE_GET(s->gone))
            continue;
        e = &entries[n_entries];
        e->served = s;
        e->password[0] = 0;
        if (c->n_secret > 0 &&
            secret_password(c->secret, c->n_secret, s->options.name,
                            e->password) != 0)
            store_note(STORE_ERROR, "the password of space %s cannot be made",
                       s->options.name);
        else
            n_entries++;
    }
    pthread_mutex_unlock(&lock);
    STORE_SET(has_secret, c->n_secret > 0);
}

int store_password_is_set(void)
{
    return STORE_GET(has_secret);
}

static int is_right(const entry_t *e, const char *password, size_t n)
{
    return e->password[0] && secret_is_password(e->password, password, n);
}

/* Under the lock, since the main thread frees a space that is not in the list
 * and has no connections. The main thread changes the options at any time. */
static store_served_t *find(const char *name, size_t n_name,
                            const char *password, size_t n)
{
    unsigned i;

    for (i = 0; i < n_entries; i++) {
        store_served_t *s = entries[i].served;

        if (strlen(s->space->name) != n_name ||
            memcmp(s->space->name, name, n_name) != 0)
            continue;
        if (!is_right(&entries[i], password, n) ||
            STORE_GET(s->connections) >=
                STORE_GET(s->space->figures->max_connections))
            return NULL;
        store_spaces_count(s, 1);
        return s;
    }
    return NULL;
}

store_served_t *store_password_check(const char *name, size_t n_name,
                                     const char *password, size_t n)
{
    int64_t now = clock_ms();
    store_served_t *s;
    int is_due;

    pthread_mutex_lock(&lock);
    s = find(name, n_name, password, n);
    is_due = !s && store_note_is_due(&failed_at, now);
    pthread_mutex_unlock(&lock);
    if (is_due)
        store_note(STORE_WARN,
                   "a TCP client was refused: its user is no space, its "
                   "password is wrong, or the space has too many connections");
    return s;
}
