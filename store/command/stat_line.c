/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/stat_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/command/packet.h"

static void packet(const store_stat_out_t *out, const char *name,
                   const char *value)
{
    uint16_t klen = (uint16_t)strlen(name);
    uint32_t length = (uint32_t)strlen(value);

    store_packet_head(out->session, out->reply, STORE_STATUS_OK, 0, klen,
                      klen + length, 0);
    store_reply_copy(out->reply, name, klen);
    store_reply_copy(out->reply, value, length);
}

void store_stat_line(const store_stat_out_t *out, const char *name,
                     const char *format, ...)
{
    char value[201];
    va_list list;

    va_start(list, format);
    vsnprintf(value, sizeof value, format, list);
    va_end(list);
    if (out->session->protocol == STORE_PROTOCOL_BINARY)
        packet(out, name, value);
    else
        store_reply_format(out->reply, "STAT %s %s\r\n", name, value);
}

void store_stat_line_number(const store_stat_out_t *out, const char *name,
                            uint64_t n)
{
    store_stat_line(out, name, "%" PRIu64, n);
}

void store_stat_line_end(const store_stat_out_t *out)
{
    if (out->session->protocol == STORE_PROTOCOL_BINARY)
        packet(out, "", "");
    else
        store_reply_copy(out->reply, "END\r\n", 5);
}
