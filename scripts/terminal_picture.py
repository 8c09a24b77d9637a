#!/usr/bin/env python3
"""Runs a command on a terminal of its own and draws what it shows as an SVG.

    scripts/terminal_picture.py OUT.svg COLUMNS COMMAND [ARG...]

Made docs/terminal.svg. Python's standard library only; understands the colours that
attn-demo uses (24-bit foreground and background, bold, reset).
"""
import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios
import unicodedata

CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 19, 16
PAPER, INK = "#16181d", "#d7dae0"


def run(columns, command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", ATTN_DEMO_BACKGROUND="dark")
        os.environ.pop("NO_COLOR", None)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.execvp(command[0], command)
    output = b""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:
            break
        if not block:
            break
        output += block
    os.waitpid(pid, 0)
    return output.decode().replace("\r\n", "\n")


def color(codes):
    return "#%02x%02x%02x" % tuple(int(c) for c in codes)


def runs(line):
    """Yields (column, text, foreground, background, bold) for stretches of one style."""
    column, fore, back, bold = 0, None, None, False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            codes = part[2:-1].split(";")
            while codes:
                code = codes.pop(0) or "0"
                if code == "0":
                    fore, back, bold = None, None, False
                elif code == "1":
                    bold = True
                elif code in ("38", "48"):
                    codes.pop(0)
                    value, codes = color(codes[:3]), codes[3:]
                    fore, back = (value, back) if code == "38" else (fore, value)
                elif code == "39":
                    fore = None
                elif code == "49":
                    back = None
            continue
        if part:
            yield column, part, fore, back, bold
            column += sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in part)


def main():
    out, columns, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    lines = run(columns, command).rstrip("\n").split("\n")
    shown = " ".join(c if re.fullmatch(r"[\w./:=-]+", c) else f'"{c}"' for c in command)
    lines = ["$ " + shown.replace(command[0], "attn-demo", 1)] + lines
    width = columns * CELL_WIDTH + 2 * MARGIN
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
           f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
           f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>']
    for row, line in enumerate(lines):
        top = MARGIN + row * LINE_HEIGHT
        for column, text, fore, back, bold in runs(line):
            left = MARGIN + column * CELL_WIDTH
            if back:
                svg.append(f'<rect x="{left:.1f}" y="{top}" width="{len(text) * CELL_WIDTH:.1f}" '
                           f'height="{LINE_HEIGHT}" fill="{back}"/>')
            if text.strip():
                weight = ' font-weight="bold"' if bold else ""
                svg.append(f'<text x="{left:.1f}" y="{top + 14}" fill="{fore or INK}"{weight} '
                           f'textLength="{len(text) * CELL_WIDTH:.1f}" xml:space="preserve">'
                           f'{html.escape(text)}</text>')
    svg.append("</svg>")
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(svg) + "\n")


main()
