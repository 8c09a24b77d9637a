#!/usr/bin/env python3
"""Writes unicode_width.h beside this script from Python's own Unicode tables; nothing calls it."""
import pathlib
import unicodedata

# Format characters that are drawn: Arabic and Kaithi number signs, and the soft hyphen.
DRAWN_FORMATS = {0xAD, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


def is_zero(code):
    if 0x1160 <= code <= 0x11FF:  # Hangul vowels and finals join the syllable before them
        return True
    return unicodedata.category(chr(code)) in ("Mn", "Me", "Cf") and code not in DRAWN_FORMATS


def is_wide(code):
    if 0x20000 <= code <= 0x3FFFD:  # two planes of ideographs, assigned or not
        return True
    unassigned = unicodedata.category(chr(code)) == "Cn"
    return not unassigned and not is_zero(code) and unicodedata.east_asian_width(chr(code)) in "WF"


def ranges(holds):
    """The runs of code points that hold; runs with only unassigned ones between them are joined."""
    out = []
    for code in range(0x110000):
        if not holds(code):
            continue
        gap = range(out[-1][1] + 1, code) if out else None
        if out and len(gap) < 99 and all(unicodedata.category(chr(c)) == "Cn" for c in gap):
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def table(name, holds):
    lines, line = [], "   "
    for first, last in ranges(holds):
        item = f" {{0x{first:x}, 0x{last:x}}},"
        if len(line + item) > 98:
            lines.append(line)
            line = "   "
        line += item
    return f"inline constexpr CodeRange {name}[] = {{\n" + "\n".join(lines + [line]) + "\n};\n"


HEADER = f"""\
// Code points that do not take one column of a terminal, in sorted ranges. Written by
// make_unicode_width.py from Unicode {unicodedata.unidata_version}: no column for categories Mn, Me and Cf and for Hangul
// vowels and finals; two for the East Asian widths W and F, which hold the emoji.
#pragma once

namespace attn {{

struct CodeRange {{
  char32_t first;
  char32_t last;
}};

// clang-format off
{table("kZeroWidth", is_zero)}
{table("kWide", is_wide)}// clang-format on

}}  // namespace attn
"""
pathlib.Path(__file__).with_name("unicode_width.h").write_text(HEADER, encoding="utf-8")
