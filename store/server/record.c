/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/record.h"

#include <apr_siphash.h>

_Static_assert(STORE_RECORD_KEY == APR_SIPHASH_KSIZE, "as the hash wants it");

/* Below 16 it is the number itself. Then it has the three bits behind the
 * highest one, and the place of that. */
uint8_t store_record_age(uint32_t s)
{
    unsigned shift = 0;

    while (s >> shift >= 16)
        shift++;
    return (uint8_t)(shift * 8 + (s >> shift));
}

uint32_t store_record_age_s(uint8_t age)
{
    unsigned shift = age < 16 ? 0 : age / 8u - 1;

    return shift > 28 ? UINT32_MAX : (age - shift * 8) << shift;
}

int store_record_is_header(const store_record_t *r)
{
    if (r->magic != STORE_RECORD_MAGIC)
        return 0;
    switch (r->kind) {
    case STORE_RECORD_SPACE:
        return r->klen > 0 && r->klen < STORE_NAME && r->length == 0;
    case STORE_RECORD_ITEM:
        return r->klen > 0 && r->klen <= STORE_KEY_MAX &&
               r->length <= STORE_RECORD_VALUE_MAX;
    case STORE_RECORD_END:
        return r->klen == 0 && r->length == 0;
    case STORE_RECORD_HISTORY:
        return r->klen == 0 && r->length == sizeof(store_history_t);
    default:
        return 0;
    }
}

uint64_t store_record_check(const store_record_t *r,
                            const unsigned char key[STORE_RECORD_KEY])
{
    store_record_t head = *r;
    uint64_t parts[2];

    head.check = 0;
    parts[0] = apr_siphash24(&head, sizeof head, key);
    parts[1] = apr_siphash24(r + 1, store_record_size(r) - sizeof *r, key);
    return apr_siphash24(parts, sizeof parts, key);
}
