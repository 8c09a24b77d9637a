#!/usr/bin/env python3
"""Types into attn-demo serve and keeps what one sees: a picture that moves (APNG), for README.md.

    python3 scripts/typing_picture.py docs/typing.png [--program build/release/app/attn-demo]

Chromium draws; this script reads its PNGs, gives all frames one palette, cuts each to what has changed, and writes them
into one file with Python's own library. Needs chromium and chromium-driver (scripts/install_packages.sh).
"""
import argparse
import collections
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/page"))

from webdriver import Browser, until  # noqa: E402

BEFORE = "The group went home"
TYPED = [" a", "nd", " sl", "ept", " we", "ll"]  # one frame each
WIDTH, HEIGHT = 1000, 800
PALETTE = 64


def chunks(data):
    """(type, content) of a PNG's parts."""
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def unfiltered(kind, line, above, step):
    """A PNG's line without its filter (https://www.w3.org/TR/png-3/#9Filters)."""
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
    """Rows of a PNG of 8 bits a colour, each row a list of (red, green, blue)."""
    parts = list(chunks(Path(path).read_bytes()))
    width, height, depth, colour = struct.unpack(">IIBB", parts[0][1][:10])
    step = {2: 3, 6: 4}[colour]
    assert depth == 8
    data = zlib.decompress(b"".join(content for kind, content in parts if kind == b"IDAT"))
    rows, above = [], bytearray(width * step)
    for y in range(height):
        at = y * (width * step + 1)
        above = unfiltered(data[at], bytearray(data[at + 1:at + 1 + width * step]), above, step)
        rows.append([tuple(above[x:x + 3]) for x in range(0, len(above), step)])
    return rows


def with_palette(frames):
    """The palette of the commonest colours, and the frames as bytes of its numbers."""
    count = collections.Counter(colour for rows in frames for row in rows for colour in row)
    palette = [colour for colour, _ in count.most_common(PALETTE)]
    number = {colour: i for i, colour in enumerate(palette)}
    for colour in count:
        if colour not in number:
            number[colour] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
    return palette, [[bytes(number[colour] for colour in row) for row in rows] for rows in frames]


def changed(before, after):
    """(x, y, width, height) of what differs."""
    rows = [y for y, row in enumerate(after) if row != before[y]] or [0]
    columns = [x for x in range(len(after[0])) if any(before[y][x] != after[y][x] for y in rows)] or [0]
    return columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1


def animated(frames, seconds):
    """The frames as one APNG, for as long as each stays."""
    palette, frames = with_palette(frames)

    def part(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    out = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", len(frames[0][0]), len(frames[0]), 8, 3, 0, 0, 0))
    out += part(b"acTL", struct.pack(">II", len(frames), 0)) + part(b"PLTE", bytes(v for colour in palette for v in colour))
    number = 0
    for i, rows in enumerate(frames):
        x, y, width, height = (0, 0, len(rows[0]), len(rows)) if i == 0 else changed(frames[i - 1], rows)
        out += part(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, x, y, round(1000 * seconds[i]), 1000, 0, 0))
        number += 1
        data = zlib.compress(b"".join(b"\0" + row[x:x + width] for row in rows[y:y + height]), 9)
        out += part(b"IDAT", data) if i == 0 else part(b"fdAT", struct.pack(">I", number) + data)
        number += i > 0
    return out + part(b"IEND", b"")


def photographed(browser, folder):
    path = folder + "/frame.png"
    browser.picture(path)
    return pixels(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    options = parser.parse_args()
    server = subprocess.Popen([options.program, "serve", "--port", "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    browser = Browser(WIDTH, HEIGHT)
    try:
        browser._ask("POST", "/url", {"url": server.stdout.readline().strip() + "#theme=light"})
        until("the page", lambda: browser.run("return !document.getElementById('page').hidden"))
        browser.resize(WIDTH, HEIGHT)
        # The frames show the typed text without the time that this machine took.
        browser.run("document.getElementById('live-says').style.visibility = 'hidden'")
        browser.click("#live-text")
        browser.press("End")
        with tempfile.TemporaryDirectory() as folder:
            time.sleep(1.5)
            frames, seconds = [photographed(browser, folder)], [1.2]
            for keys in TYPED:
                for key in keys:
                    browser.press("Space" if key == " " else key)
                time.sleep(1.5)
                frames.append(photographed(browser, folder))
                seconds.append(0.7)
            seconds[-1] = 3.0
        options.picture.write_bytes(animated(frames, seconds))
        print(f"{options.picture}: {len(frames)} frames, {options.picture.stat().st_size // 1000} kB")
    finally:
        browser.close()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
