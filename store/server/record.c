/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/record.h"

#include <apr_siphash.h>

#define OF_HEADER (UINT64_MAX << 32)

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

/* The header, without its check. */
static uint64_t hash_header(const store_record_t *r,
                            const store_record_file_t *file)
{
    store_record_t head = *r;

    head.check = 0;
    return apr_siphash24(&head, sizeof head, file->key);
}

static int has_right_form(const store_record_t *r)
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

int store_record_is_header(const store_record_t *r,
                           const store_record_file_t *file)
{
    return has_right_form(r) &&
           (file->version == 1 ||
            ((hash_header(r, file) ^ r->check) & OF_HEADER) == 0);
}

uint64_t store_record_check(const store_record_t *r,
                            const store_record_file_t *file)
{
    uint64_t parts[2], all;

    parts[0] = hash_header(r, file);
    parts[1] =
        apr_siphash24(r + 1, store_record_size(r) - sizeof *r, file->key);
    all = apr_siphash24(parts, sizeof parts, file->key);
    return file->version == 1 ? all
                              : (parts[0] & OF_HEADER) | (all & ~OF_HEADER);
}
