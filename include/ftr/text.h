/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Text that comes from outside: node descriptions, names and lines in files.
 *
 * Such text is cleaned before it reaches a log, a terminal, a file or JSON.  A name is
 * cleaned when it is added to a fabric; an error text is cleaned in ftr_fail().  Log lines, and
 * messages of the command ibfattree, are cleaned when they are written.
 */
#ifndef FTR_TEXT_H
#define FTR_TEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Replace each of these characters in s with one '?', because they could control a terminal or
 * forge a log line:
 *
 *  - control characters (C0, DEL and C1, newline and tab included)
 *  - line and paragraph separators
 *  - characters that change the direction of text (Unicode UAX #9)
 *  - bytes that are not valid UTF-8 (RFC 3629)
 *
 * Other characters stay.  The text never becomes longer.  Returns s.
 */
char *ftr_text_clean(char *s);

/* Decode the UTF-8 character at s, a NUL-terminated string, into *c.  Returns the number of its
 * bytes, 1..4, or 0 if it is not valid UTF-8 (RFC 3629). */
unsigned int ftr_text_char(const unsigned char *s, uint32_t *c);

#ifdef __cplusplus
}
#endif
#endif
