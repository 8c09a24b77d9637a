"""Finds the numbers of a document's text, except those in names: `int8`, "section 3", "Vaswani et al. 2017"."""
import re
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![\w.:/#-])(?<!\d,)[−-]?\d+(?:,\d{3})*(?:\.\d+)?"
                    r"(?=(?:[kMGTx]|ms|s|[kMGT]i?B|B)?(?![\w]))(?!(?:,\d|[.:/]\d|-[a-z]))")
DECIMALS = re.compile(r"(?<![\w.])[−-]?\d+\.\d{2,}(?![\w.])")
SOFTWARE = ("Apache|Bullseye|Chromium|CLI11|Clang|CMake|CTranslate2|CUDA|Debian|emscripten|Firefox|GCC|GLIBC|glibc|HTTP|ISO|Level|"
            "Node|NumPy|numpy|Parity|port|Python|PyTorch|qemu|RFC|SentencePiece|SPDX|Ubuntu|Unicode|Unit|Unix|WCAG|WMT|Zen|safetensors|"
            "sacreBLEU|sentencepiece|tokenizers|torch|transformers|version|nlohmann/json|CC BY|CC BY-SA|librsvg|axe-core|Core|EPYC|Xeon|Ryzen")
NAMES = [  # numbers that are not values
    r"^\s*#{1,6}\s+\d+\.",  # a numbered heading
    r"^\s*\d+\.(?=\s)",  # a list's number
    r"\[\d+\.\s",  # a numbered heading in a link
    r"\]\([^)]*\)", r"<https?:[^>]*>", r"https?://\S+",
    r"</?[a-z][^>]*>", r"<!--.*?-->",
    r"\b(?:[Ss]ections?|eqs?\.|[Ee]quations?|[Tt]able|[Ff]igure|[Cc]hapter|[Pp]art|[Qq]uestions?)\s+\d[\d.]*"
    r"(?:(?:,| and|,? or|–| to)\s*\d[\d.]*)*",
    r"\b(?:" + SOFTWARE + r")\s+v?\d[\d.]*\d?(?:(?:,| and| or|–|-| to)\s*v?\d[\d.]*\d?(?! (?:minutes|seconds|hours|s|ms|GB|MB)\b))*",
    r"(?:al\.|[A-Z][\w’'-]+)(?:'s)?,? \(?(?:19|20)\d\d[a-z]?\b(?:, (?:19|20)\d\d[a-z]?)*", r"\((?:19|20)\d\d[a-z]?\)",
    r"^\s*(?:19|20)\d\d(?=[,;).])",  # a citation's year, after a line break
    r"\bcount(?:s|ed)? from [01]\b", r"\bsums? (?:up )?to [01]\b", r"\bfrom 0 to 1\b",  # definitions
    r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b",
    r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?",
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}",
    r"\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}\b",  # a commit
]
NAME = re.compile("|".join(NAMES))
CODE = re.compile(r"(`+)(.+?)\1(?!`)")
MATH = re.compile(r"(?<![\\$])\$[^$\n]+\$")
TYPED = re.compile(r"(attn-demo|scripts/|[-]{1,2}[a-z]|[\w.]+ ?=|[\w./-]+\.(py|sh|json|h|cpp|md)\b)")


@dataclass
class Number:
    """A number in a document: its line (from 1), its columns, and its text."""
    line: int
    begin: int
    end: int
    text: str

    @property
    def value(self):
        return float(self.text.replace(",", "").replace("−", "-"))


def blank(match):
    return " " * len(match[0])


def only_decimals(match):
    """Returns the span with everything blanked out except numbers of two or more decimals: the values that
    the program computed, not its syntax."""
    kept = [" "] * len(match[0])
    for number in DECIMALS.finditer(match[0]):
        kept[number.start():number.end()] = number[0]
    return "".join(kept)


def code_span(match):
    """True if a code span is a number, such as `0.67`; `cross:2:2` and `--beam 4` are names."""
    ticks, inside = len(match[1]), match[2].strip()
    if NUMBER.fullmatch(inside):
        return " " * ticks + match[2] + " " * ticks
    return blank(match) if TYPED.match(inside) else only_decimals(match)


def in_prose(line, number):
    """Returns the numbers of a line of text that are not parts of names."""
    line = MATH.sub(only_decimals, CODE.sub(code_span, line))
    line = NAME.sub(blank, line)
    return [Number(number, m.start(), m.end(), m[0]) for m in NUMBER.finditer(line)]


def in_code(line, number, pattern=NUMBER):
    return [Number(number, m.start(), m.end(), m[0]) for m in pattern.finditer(line)]


def in_comment(line, number):
    """Returns the numbers of a shell comment."""
    begin = re.search(r"(?:^|\s)#\s", line)
    return [n for n in in_prose(line, number) if begin and n.begin >= begin.end()] if begin else []


def written_like(value, text):
    """Returns the value with as many decimals, and in the same style, as the number that it replaces."""
    decimals = len(text.partition(".")[2])
    grouped = "," in text or len(text.replace("−", "-").lstrip("-").partition(".")[0]) < 4
    result = f"{value:,.{decimals}f}" if grouped else f"{value:.{decimals}f}"
    if not result.strip("-0.,"):
        result = result.lstrip("-")
    return result if text.startswith("-") else result.replace("-", "−")
