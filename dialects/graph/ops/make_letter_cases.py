#!/usr/bin/env python3
"""Prints LetterCases.def: Unicode's simple case mappings as ranges.

Usage: make_letter_cases.py > LetterCases.def

A simple mapping maps one character to one character. Python only has the full mappings.
If the full upper case of a character is longer than one character, the simple mapping is
that of title case (for Greek letters with iota subscript), or there is none. The only
longer full mapping to lower case (U+0130) has the simple mapping i.
"""
import sys
import unicodedata


def lower(c):
    full = c.lower()
    return full if len(full) == 1 else "i" if c == "\u0130" else c


def upper(c):
    return next((to for to in (c.upper(), c.title()) if len(to) == 1), c)


def ranges(mapping):
    """Returns [first, last, step, distance], ascending; step is 2 where cases alternate."""
    found = []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000:
            continue
        distance = ord(mapping(chr(code))) - code
        if not distance:
            continue
        if found:
            first, last, step, known = found[-1]
            if known == distance and code - last <= 2 and (step is None or code - last == step):
                found[-1] = (first, code, code - last, known)
                continue
        found.append((code, code, None, distance))
    return [(first, last, step or 1, distance) for first, last, step, distance in found]


print(f"// Unicode {unicodedata.unidata_version}'s simple case mappings, printed by make_letter_cases.py; do not edit.")
print("// The letters FIRST to LAST, every one or every second of them, become those DISTANCE behind.\n")
for name, mapping in (("INGOT_LOWER", lower), ("INGOT_UPPER", upper)):
    print(f"#ifndef {name}\n#define {name}(FIRST, LAST, STEP, DISTANCE)\n#endif")
for name, mapping in (("INGOT_LOWER", lower), ("INGOT_UPPER", upper)):
    print()
    for first, last, step, distance in ranges(mapping):
        print(f"{name}(0x{first:x}, 0x{last:x}, {step}, {distance})")
print("\n#undef INGOT_LOWER\n#undef INGOT_UPPER")
