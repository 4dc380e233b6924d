/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/header_size.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

static const char version[] = "HTTP/";

/* The field is complete. */
static void end_field(apppool_header_size_t *header)
{
    if (header->line > header->longest && *header->name) {
        header->longest = header->line;
        memcpy(header->longest_name, header->name, sizeof header->name);
    }
    header->line = 0;
}

/* The name of a field, or nothing if the line is none. It may come in parts. */
static void read_name(apppool_header_size_t *header, const char *bytes,
                      apr_size_t n)
{
    apr_size_t i;

    for (i = 0; i < n && header->names_left > 0; i++) {
        char *to = header->name + APPPOOL_HEADER_NAMES - header->names_left;

        if (apr_isalnum(bytes[i]) || bytes[i] == '-' || bytes[i] == '_') {
            *to++ = bytes[i];
            header->names_left--;
        }
        else {
            header->names_left = 0;
            if (bytes[i] != ':')
                to = header->name;
        }
        *to = 0;
    }
}

/* @param bytes a line, or a part of one */
static void add_row(apppool_header_size_t *header, const char *bytes,
                    apr_size_t n)
{
    int begins = header->of_row == 0, ends = bytes[n - 1] == '\n';

    if (begins && header->has_ended)
        header->has_ended = n < sizeof version ||
                            memcmp(bytes, version, sizeof version - 1) != 0;
    header->of_row = ends ? 0 : header->of_row + n;
    if (header->has_ended)
        return;
    if (begins && *bytes != ' ' && *bytes != '\t') {
        end_field(header);
        header->names_left = APPPOOL_HEADER_NAMES;
        *header->name = 0;
    }
    read_name(header, bytes, n);
    header->size += n;
    header->line += n;
    header->has_ended =
        begins && (*bytes == '\n' || !strncmp(bytes, "\r\n", n));
}

int apppool_header_size_add(apppool_header_size_t *header, const char *bytes,
                            apr_size_t n)
{
    const char *end;
    apr_size_t row;

    while (n > 0) {
        end = memchr(bytes, '\n', n);
        row = end ? (apr_size_t)(end - bytes) + 1 : n;
        add_row(header, bytes, row);
        bytes += row;
        n -= row;
    }
    return header->size > APPPOOL_HEADER_MOST;
}

const char *apppool_header_size_wrong(apppool_header_size_t *header,
                                      apr_pool_t *p)
{
    end_field(header);
    return apr_psprintf(p,
                        "the header of the response has more than %d bytes; "
                        "its longest field is %s",
                        APPPOOL_HEADER_MOST,
                        *header->longest_name ? header->longest_name
                                              : "none with a name");
}
