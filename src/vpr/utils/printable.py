"""Text from files, such as file names, made safe to print."""

from __future__ import annotations

import re

# Control characters, which a terminal may obey (escape sequences start with one); marks that
# reverse the direction of text; and surrogates, which stand for bytes that are not valid UTF-8.
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text in one line, with control characters as escapes, as in JSON: \\u001b."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
