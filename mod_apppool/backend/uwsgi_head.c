/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/uwsgi_head.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>
#include <strings.h>

#define CODE 3 /* digits of a status */

/* @return the text behind "HTTP/1.1 " or "HTTP/2 "; NULL: it begins
 *         otherwise */
static const char *behind_version(const char *text)
{
    static const char name[] = "HTTP/";

    if (strncmp(text, name, sizeof name - 1) != 0)
        return NULL;
    text += sizeof name - 1;
    if (!apr_isdigit(*text++))
        return NULL;
    if (*text == '.' && apr_isdigit(text[1]))
        text += 2;
    return *text == ' ' ? text + 1 : NULL;
}

/* No client takes a status below 200 for the end of a response. */
static int is_status(const char *text)
{
    return *text >= '2' && *text <= '5' && apr_isdigit(text[1]) &&
           apr_isdigit(text[2]) && strchr(" \r\n", text[CODE]);
}

/* httpd would believe the last one. */
static int count_lengths(const char *text)
{
    static const char name[] = "Content-Length:";
    int n = 0;

    while ((text = strchr(text, '\n')) != NULL)
        n += !strncasecmp(++text, name, sizeof name - 1);
    return n;
}

const char *apppool_uwsgi_head_convert(apr_bucket_brigade *head, apr_pool_t *p)
{
    const char *status = NULL;
    apr_size_t n = 0;
    char *text = NULL;

    if (apr_brigade_pflatten(head, &text, &n, p) != APR_SUCCESS)
        return "the header of the response cannot be read";
    if (memchr(text, 0, n) != NULL)
        return "the header of the response has a zero byte";
    text = apr_pstrmemdup(p, text, n);
    status = behind_version(text);
    if (!status || !is_status(status))
        return "the response does not begin with a status line";
    if (count_lengths(text) > 1)
        return "the response has two Content-Length";
    apr_brigade_cleanup(head);
    apr_brigade_puts(head, NULL, NULL, "Status: ");
    apr_brigade_puts(head, NULL, NULL, status);
    return NULL;
}
