"""Reads the PNGs that Chromium writes, and writes small ones: still or animated (APNG), with a palette.

Python's own library only. A picture is a list of rows, and a row a list of (red, green, blue).
"""
import collections
import struct
import zlib
from pathlib import Path

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks(data):
    """(type, content) of a PNG's parts."""
    at = len(SIGNATURE)
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def unfiltered(kind, line, above, step):
    """Returns a PNG's line without its filter (https://www.w3.org/TR/png-3/#9Filters)."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        up = above[i]
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + up) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + up) // 2) & 255
        elif kind == 4:
            corner = above[i - step] if i >= step else 0
            near = left + up - corner
            best = min((abs(near - left), 0, left), (abs(near - up), 1, up), (abs(near - corner), 2, corner))
            line[i] = (line[i] + best[2]) & 255
    return line


def pixels(path):
    """Reads a PNG with 8 bits per color."""
    parts = list(chunks(Path(path).read_bytes()))
    width, height, depth, color = struct.unpack(">IIBB", parts[0][1][:10])
    step = {2: 3, 6: 4}[color]
    assert depth == 8
    data = zlib.decompress(b"".join(content for kind, content in parts if kind == b"IDAT"))
    rows, above = [], bytearray(width * step)
    for y in range(height):
        at = y * (width * step + 1)
        above = unfiltered(data[at], bytearray(data[at + 1:at + 1 + width * step]), above, step)
        rows.append([tuple(above[x:x + 3]) for x in range(0, len(above), step)])
    return rows


def with_palette(frames, size):
    """Returns a palette of the most frequent colors, and the frames as bytes of its indices."""
    count = collections.Counter(color for rows in frames for row in rows for color in row)
    palette = [color for color, _ in count.most_common(size)]
    number = {color: i for i, color in enumerate(palette)}
    for color in count:
        if color not in number:
            number[color] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], color)))
    return palette, [[bytes(number[color] for color in row) for row in rows] for rows in frames]


def changed(before, after):
    """Returns (x, y, width, height) of the part that differs."""
    rows = [y for y, row in enumerate(after) if row != before[y]] or [0]
    columns = [x for x in range(len(after[0])) if any(before[y][x] != after[y][x] for y in rows)] or [0]
    return columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1


def part(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def beginning(rows, palette, control=b""):
    """Returns the parts before the pixels."""
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    return SIGNATURE + part(b"IHDR", header) + control + part(b"PLTE", bytes(v for color in palette for v in color))


def compressed(rows, x=0, width=None):
    return zlib.compress(b"".join(b"\0" + row[x:x + (width or len(row))] for row in rows), 9)


def still(picture, colors):
    """Returns the PNG of a picture."""
    palette, [rows] = with_palette([picture], colors)
    return beginning(rows, palette) + part(b"IDAT", compressed(rows)) + part(b"IEND", b"")


def animated(frames, seconds, colors):
    """Returns the frames as one APNG, which shows each for as many seconds. Each holds only what has changed."""
    palette, frames = with_palette(frames, colors)
    out = beginning(frames[0], palette, part(b"acTL", struct.pack(">II", len(frames), 0)))
    number = 0
    for i, rows in enumerate(frames):
        x, y, width, height = (0, 0, len(rows[0]), len(rows)) if i == 0 else changed(frames[i - 1], rows)
        out += part(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, x, y, round(1000 * seconds[i]), 1000, 0, 0))
        number += 1
        data = compressed(rows[y:y + height], x, width)
        out += part(b"IDAT", data) if i == 0 else part(b"fdAT", struct.pack(">I", number) + data)
        number += i > 0
    return out + part(b"IEND", b"")
