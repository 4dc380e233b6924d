/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/plain_text.h"

void plain_text_put(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)text[0], d = (unsigned char)text[1];

        int wide = c == 0xc2 && d >= 0x80 && d < 0xa0; /* U+0080 to U+009F */

        putc(wide || (c < 0x20 && c != '\t') || c == 0x7f ? '?' : text[0], out);
        text += wide;
    }
}
