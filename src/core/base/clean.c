// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cleaning of text from outside.  UTF-8 is decoded strictly, and the characters listed in
 * <ftr/text.h> are replaced by '?'.  No replaced character is shorter than '?', so the text is
 * cleaned in place.
 */
#include <stdbool.h>

#include <ftr/text.h>

/* The byte ranges are those of RFC 3629, section 4. */
unsigned int ftr_text_char(const unsigned char *s, uint32_t *c)
{
	unsigned char lo = 0x80, hi = 0xbf;
	unsigned int n;

	*c = s[0];
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		lo = 0xa0;
	else if (s[0] == 0xed)
		hi = 0x9f;
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	*c &= 0x7fu >> n;
	for (unsigned int i = 1; i < n; i++) {
		if (s[i] < lo || s[i] > hi)
			return 0;
		*c = *c << 6 | (s[i] & 0x3fu);
		lo = 0x80;
		hi = 0xbf;
	}
	return n;
}

static bool is_harmless(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
		return false;		/* C0, DEL, C1 */
	if (c == 0x061c || c == 0x200e || c == 0x200f)
		return false;		/* direction marks */
	if (c >= 0x2028 && c <= 0x202e)
		return false;		/* separators; embeddings, overrides */
	return c < 0x2066 || c > 0x2069;	/* isolates */
}

char *ftr_text_clean(char *s)
{
	const unsigned char *from = (const unsigned char *)s;
	char *to = s;

	while (*from) {
		uint32_t c;
		unsigned int n = ftr_text_char(from, &c);

		if (n && is_harmless(c))
			for (unsigned int i = 0; i < n; i++)
				*to++ = (char)*from++;
		else {
			*to++ = '?';
			from += n ? n : 1;
		}
	}
	*to = '\0';
	return s;
}
