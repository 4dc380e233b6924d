/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/class.h"

_Static_assert(sizeof(store_page_t) == 64, "as drawn");

const uint16_t store_class_size[STORE_CLASSES] = {48,   56,
                                                  64,   72,
                                                  88,   104,
                                                  120,  136,
                                                  160,  184,
                                                  208,  240,
                                                  272,  312,
                                                  352,  400,
                                                  456,  520,
                                                  592,  672,
                                                  760,  856,
                                                  976,  1104,
                                                  1256, 1416,
                                                  1632, 1864,
                                                  2112, 2424,
                                                  2728, 3112,
                                                  3632, 4088,
                                                  4672, 5456,
                                                  6544, STORE_CHUNK_MAX};

unsigned store_class_of(uint32_t bytes)
{
    unsigned low = 0, high = STORE_CLASSES - 1;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (store_class_size[middle] < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
