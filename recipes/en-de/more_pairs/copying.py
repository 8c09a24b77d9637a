"""Makes pairs that teach copying: addresses, paths, code, symbols, emoji, other scripts, foreign words.

Frames are recipes/en-de/words/copying.tsv's: a kind, and sentences with {x} (and {y}, another of the kind) to fill. What a
frame gets is made up by hash, so that a model learns to copy and not the things themselves.
"""
import re

from more_pairs import figures, sounds
from more_pairs.draw import Draw
from more_pairs.nouns import read_nouns
from more_pairs.words import RECIPE, lines_of

LOWER = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
DOMAINS = "com org net de edu io eu co.uk at ch info dev app gov fr es it nl pl se jp".split()
ENDINGS = ("txt pdf docx xlsx png jpg jpeg gif svg csv json xml html css js py cpp h sh md zip tar.gz mp3 mp4 wav log "
           "conf yaml toml ini bak exe iso odt pptx tex rs go java").split()
# The first and last code point of the letters from which made-up words are drawn.
SCRIPTS = {"cyrillic": (0x430, 0x44F), "russian": (0x430, 0x451), "capital cyrillic": (0x410, 0x42F), "greek": (0x3B1, 0x3C9), "accented greek": (0x3AC, 0x3CE),
           "capital greek": (0x391, 0x3A1), "old greek": (0x1F00, 0x1F07), "many han": (0x4E00, 0x5500), "small kana": (0x3041, 0x3096), "large kana": (0x30A1, 0x30FC),
           "thai marks": (0xE30, 0xE39), "latin": (0xE0, 0xF6), "extended latin": (0x100, 0x17E), "arabic": (0x628, 0x64A), "hebrew": (0x5D0, 0x5EA),
           "hiragana": (0x3042, 0x3093), "katakana": (0x30A2, 0x30F3), "han": (0x4E00, 0x9FA5), "hangul": (0xAC00, 0xD7A3),
           "devanagari": (0x915, 0x939), "thai": (0xE01, 0xE2E), "georgian": (0x10D0, 0x10F0), "armenian": (0x561, 0x586),
           "bengali": (0x995, 0x9A8), "tamil": (0xBAE, 0xBB9)}
KNOWN = ("привет|дружба|Я тебя люблю|добрый вечер|до свидания|мир|γειά σου|Αθήνα|ἀγάπη|شكرا|السلام عليكم|القاهرة|حبيبي|תודה|"
         "こんにちは|日本語|さくら|谢谢|中国|北京|我爱你|안녕하세요|서울|김치|धन्यवाद|भारत|ขอบคุณ|გამარჯობა|Բարև|xin chào|Việt Nam|phở").split("|")
FOREIGN = ("déjà vu|la dolce vita|c'est la vie|mañana|hasta la vista|joie de vivre|buongiorno|saudade|hygge|fjord|tapas|carpaccio|"
           "bon appétit|savoir-vivre|ad hoc|in vino veritas|veni, vidi, vici|crème brûlée|jalapeño|piñata|siesta|prosciutto|"
           "ciao bella|por favor|merci beaucoup|obrigado|tack så mycket|dziękuję|köszönöm|teşekkürler|hvala|sisu|ikigai|kimchi|"
           "tsunami|sushi|feng shui|tiramisù|señorita|olá|ça va|aloha|sayonara|gracias|bonjour|buenas noches|arrivederci|"
           "karaoke|naïve|voilà|mon amour|ceteris paribus|quid pro quo").split("|")
EMOJI = [(0x1F600, 0x1F64F), (0x1F600, 0x1F64F), (0x1F300, 0x1F320), (0x1F330, 0x1F37C), (0x1F380, 0x1F393), (0x1F3A0, 0x1F3C4),
         (0x1F400, 0x1F4FC), (0x1F500, 0x1F53D), (0x1F680, 0x1F6C5), (0x1F90D, 0x1F93A), (0x1F940, 0x1F945), (0x1F950, 0x1F9A2),
         (0x1F9B0, 0x1F9FF), (0x2600, 0x2604), (0x2614, 0x2615), (0x26BD, 0x26BE), (0x2705, 0x2705), (0x274C, 0x274C), (0x2728, 0x2728)]
COMMON = "😀😂🤣😊😍🥰😘😎😢😭😡👍👎👏🙏💪🔥✨🎉🎂❤💔💯🚀🌍🌞⭐☕🍕🍺🐶🐱🌹🤔🙄😴🥳🤷👋💀"
MARKED = ["❤️", "☀️", "⚠️", "✌️", "☺️", "👍🏽", "🙏🏻", "👨‍👩‍👧", "🏳️‍🌈", "🇩🇪", "🇬🇧", "🇺🇸", "🇫🇷", "👩‍💻", "✔️", "➡️"]
# Parts of names in programs, besides nouns.
NAMED = ("get set is has my add remove find load save read write open close count make check update delete send init new old first last next "
         "max min total all user item list name file key value index data id number size length text time date type empty full current").split()
KEYWORDS = ("foo bar baz qux goto while else elif lambda async await null None nil True false void malloc printf stdout stdin stderr chmod grep awk sed curl "
            "nginx localhost true NaN undefined ValueError KeyError IndexError SyntaxError RuntimeException OutOfMemoryError SIGSEGV EOF TODO FIXME "
            "404 500 503 UTF-8 ASCII JSON HTML CSS PHP SQL Python JavaScript Linux Ubuntu Docker GitHub").split()
SAID_SHORT = "lol LOL rofl omg OMG brb afk btw imho FYI ASAP asap RIP thx pls XD haha hahaha hehe xoxo idk wtf tbh ttyl gg np FAQ DIY TBA N/A n/a RSVP PS".split()
ASIDES = [tuple(line.split("\t")) for line in lines_of(RECIPE / "words/asides.tsv")]
KEYS = "A B D E F G H N O P Q R S T V W X Y Z F1 F2 F4 F5 F11 Tab Enter Space Delete".split()
ELEMENTS = ["b", "i", "p", "em", "strong", "h1", "h2", "h3", "li", "span", "div", "u", "td", "th", "code", "small", "mark", "title", "label", "button"]
UNITS = ["km", "m", "cm", "mm", "kg", "g", "mg", "l", "ml", "GB", "MB", "kB", "TB", "kW", "kWh", "W", "V", "A", "Hz", "MHz", "GHz",
         "km/h", "m/s", "m²", "m³", "°C", "°F", "dB", "Pa", "bar", "kcal", "px", "ms", "s", "min", "h"]


PLAIN = [name for noun in read_nouns(lines_of(RECIPE / "words/nouns.tsv")) for name, _ in noun.english
              if re.fullmatch(r"[a-z]+", name)] + ("photo report music project garden travel winter family market holiday summer school letter recipe house budget "
         "notes server client update backup image video build draft final train number music test main index data user "
         "example shop news blog online store info help docs start page home mail world").split() * 8


def word(draw: Draw) -> str:
    """Returns syllables that are not a word, some of them with an unexpected double letter."""
    made = re.sub(r"[^a-z]", "", sounds.invented(draw, PLAIN).lower()) or "data"
    if draw.percent(20):
        at = draw.below(len(made))
        made = made[:at] + made[at] + made[at:]
    return made


def glued(draw: Draw) -> str:
    """Returns two or three words without a space between them, as in hashtags and host names."""
    return "".join(draw.pick([draw.pick(PLAIN), draw.pick(PLAIN), draw.pick(NAMED), word(draw)]) for _ in range(draw.pick([2, 2, 3])))


def marks(draw: Draw) -> str:
    """Returns a text of punctuation, symbols and digits only, which is copied."""
    letters = LOWER.upper()
    return draw.pick([draw.pick("?!.-*_=~+#/") * draw.between(1, 6), draw.pick(["?!", "!?", "...", "…", "!!1", "-->", "=>", "<3", ":)", ":-)", ";-)", ":(", ":D", "xD", "^^", "o_O", "/s", "***", "---", "+1", "-1"]),
                      f"{draw.pick(letters)}/{draw.pick(letters)}", f"{draw.pick(letters)}-{draw.pick(letters)}", f"{draw.pick(letters)}{draw.below(20)}", draw.pick(letters) * draw.between(2, 3),
                      f"{draw.pick(letters)}, {draw.pick(letters)}, {draw.pick(letters)}", characters(draw, letters, draw.between(2, 4)), f"({draw.pick(LOWER)})", f"{draw.below(10)}/{draw.below(20)}",
                      f"[{draw.below(100)}]", draw.pick(SAID_SHORT), draw.pick(SAID_SHORT), f"{draw.pick(SAID_SHORT)} {emoji(draw)}"])


def aside(draw: Draw) -> tuple[str, str]:
    """Returns two or three words in parentheses."""
    pair = draw.pick(ASIDES)
    return tuple(f"({side})" for side in pair)


def english(draw: Draw) -> str:
    """Returns one to three English words, in capitals or small letters."""
    text = " ".join(draw.pick(PLAIN) for _ in range(draw.pick([1, 1, 1, 2, 2, 3])))
    return text.title() if draw.percent(30) else text


def name(draw: Draw) -> str:
    """Returns a part of an address or a path: an ordinary word, a made-up one, or two of them."""
    way = draw.below(100)
    if way < 40:
        return draw.pick(PLAIN)
    if way < 70:
        return word(draw)
    if way < 76:
        return glued(draw)
    if way < 90:
        return draw.pick(PLAIN) + draw.pick(["-", "_", "", "."]) + draw.pick(PLAIN)
    return draw.pick(PLAIN) + draw.pick(["", "-", "_", "v"]) + str(draw.between(1, 2030))


def characters(draw: Draw, alphabet: str, count: int) -> str:
    return "".join(draw.pick(alphabet) for _ in range(count))


def host(draw: Draw) -> str:
    first = draw.pick(["", "", "", "www.", "www.", "docs.", "mail.", "api.", "en.", "de."])
    return f"{first}{name(draw).replace('_', '-').replace('.', '')}.{draw.pick(DOMAINS)}"


def url(draw: Draw) -> str:
    scheme = draw.weighted({"https://": 60, "http://": 20, "": 18, "ftp://": 2})
    path = "".join("/" + name(draw) for _ in range(draw.below(4)))
    end = draw.weighted({"": 50, "/": 15, ".html": 10, "page": 5, "query": 14, "#": 6})
    more = {"page": f"/{draw.between(1, 99)}", "#": "#" + name(draw),
            "query": f"?{draw.pick(['q', 'id', 'lang', 'page', 'v'])}={draw.pick([name(draw), str(draw.below(9999)), characters(draw, LOWER + DIGITS + LOWER.upper(), 8)])}"}
    port = f":{draw.pick([8080, 3000, 443, 5000, 8000])}" if draw.percent(5) else ""
    at = host(draw) if scheme or path else "www." + host(draw).removeprefix("www.")
    if not path and end == ".html":
        end = ""
    return scheme + at + port + path + more.get(end, end)


def email(draw: Draw) -> str:
    user = name(draw) if draw.percent(40) else f"{word(draw)}{draw.pick(['.', '_', '-', ''])}{draw.pick([word(draw), str(draw.below(100)), ''])}"
    return f"{user.strip('.-_') or 'info'}@{host(draw).removeprefix('www.')}"


def file(draw: Draw) -> str:
    way = draw.below(10)
    if way == 0:
        return f"{draw.pick(['IMG', 'DSC', 'VID', 'Scan'])}_{characters(draw, DIGITS, 4)}.{draw.pick(['JPG', 'png', 'mp4', 'pdf'])}"
    ending = draw.pick(ENDINGS) if draw.percent(85) else characters(draw, LOWER, draw.between(2, 4))
    return f"{draw.pick([name(draw), name(draw), identifier(draw)])}.{ending}"


def path(draw: Draw) -> str:
    way = draw.below(10)
    parts = [name(draw) for _ in range(draw.between(1, 3))]
    if way < 2:
        return f"{draw.pick('CDE')}:\\" + "\\".join(part.capitalize() for part in parts) + "\\" + file(draw)
    root = draw.pick(["/usr/", "/etc/", "/home/", "~/", "./", "../", "/var/log/", "/opt/", "/tmp/", "src/", "/"])
    return root + "/".join(parts) + draw.pick(["/" + file(draw), "/" + file(draw), "/", ""])


def identifier(draw: Draw) -> str:
    parts = [draw.pick([draw.pick(PLAIN), draw.pick(NAMED), draw.pick(NAMED), word(draw)]) for _ in range(draw.between(1, 3))]
    return draw.pick(["_".join(parts), parts[0] + "".join(part.capitalize() for part in parts[1:]),
                      "".join(part.capitalize() for part in parts), "_".join(parts).upper()])


def code(draw: Draw) -> str:
    a, b, n = identifier(draw), identifier(draw), str(draw.below(100))
    return draw.pick([
        f"{a}()", f"{a}({b})", f"{a} = {n}", f"{a} == {b}", f"print({a})", f'print("{draw.pick(PLAIN)}")', f"{a}.{b}()", f"{a}[{n}]",
        f"int {a} = {n};", f"for (int i = 0; i < {n}; i++)", f"if ({a} > {n})", f"return {a};", f"{a} += {n}", f"{a}->{b}",
        f"std::{a}", f"#include <{a.lower()}.h>", f"import {a}", f"def {a}({b}):", f"SELECT * FROM {a};", f"git {a}", f"ls -la {a}",
        f"sudo apt install {a}", f"pip install {a}", f"npm run {a}", f"cd {path(draw)}", f"--{a.lower().replace('_', '-')}", f"-{draw.pick(LOWER)}",
        f"${a.upper()}", f"0x{characters(draw, '0123456789ABCDEF', draw.between(2, 8))}", f"{a}: {b}", f'{{"{a}": {n}}}', f"x = {draw.pick(LOWER)} + {n}",
        f"const {a} = {n};", f"{a} && {b}", f"!{a}", f"{a} != null", f"{a}::{b}", f"let {a} = [{n}, {draw.below(50)}];", f"rm -rf {path(draw)}",
        f"SELECT {a} FROM {b} WHERE id = {n};", f"<{a.lower()}>", f"chmod {draw.pick(['755', '644', '+x'])} {file(draw)}", f"docker run {a.lower()}",
        f"./{name(draw)}", f"./{name(draw)}.sh", "cd " + draw.pick(["..", "../..", "~", "-", "/", "../" + name(draw)]), draw.pick(["ls", "pwd", "exit", "top", "ls -l", "git status", "git diff", "git log --oneline", "sudo reboot", "make", "make install", "make clean"]),
        f"{draw.pick(KEYWORDS).lower()} {draw.pick(PLAIN)} {draw.pick(NAMED)}", f"{draw.pick(NAMED)} {draw.pick(NAMED)} --{draw.pick(PLAIN)}", f"SELECT {draw.pick(NAMED)} FROM {draw.pick(PLAIN)}s;",
        f"return {n};", f"return {draw.pick(['true', 'false', 'null', a])};", f"{draw.pick(PLAIN)}_{draw.pick(PLAIN)}", f"{draw.pick(['my', 'your', 'the', 'this', 'new', 'old'])}_{draw.pick(PLAIN)}"])


def statement(draw: Draw) -> str:
    """Returns code of several words that looks like a sentence and is none."""
    a, b, c = (identifier(draw) for _ in "abc")
    n, m = draw.below(100), draw.below(2000)
    return draw.pick([
        f"{a} = {b} + {c}", f"{a} = {b} * {n}", f"def {a}({b}, {c}): return {b} + {c}", f"if ({a} < {b}) {{ {c}(); }}", f"while ({a} != {b})",
        f'{{"{a}": "{b}", "{c}": {n}}}', f'{a}: "{b}"', f"SELECT {a}, {b} FROM {c} WHERE {a} > {n} ORDER BY {b};", f"INSERT INTO {a} VALUES ({n}, '{b}');",
        f"for {a} in {b}: print({a})", f"for (int {a} = 0; {a} < {n}; {a}++) {{", f"return {a} == {b} ? {c} : {n};", f"git {a} {b} -m \"{c}\"",
        f"git push origin {a}", f"cp {file(draw)} {file(draw)}", f"mv {path(draw)} {path(draw)}", f"grep -r \"{a}\" {path(draw)}", f"python3 {file(draw)} --{b.lower()} {n}",
        f"curl -O {url(draw)}", f"ssh {word(draw)}@{host(draw)}", f"import {a} from \"{b}\";", f"from {a} import {b} as {c}", f"const {a} = ({b}) => {b} + {n};",
        f"{a}[{n}] = {b}.{c}({m});", f"std::vector<{a}> {b};", f"public static void {a}(String[] {b})", f"{a} + {b} = {c}", f"{n} + {m} = {n + m}", f"{n} * {m} = {n * m}",
        f"x = {n}, y = {m}", f"f(x) = {n}x + {m}", f"{a} > {b} && {c} < {n}", f"echo ${a.upper()}", f"export {a.upper()}={b}", f"npm install --save {a.lower()}",
        f"docker {a.lower()} {b.lower()}", f"make {a.lower()}", f"assert {a}({n}) == {m}", f"try {{ {a}(); }} catch ({b} e) {{ }}", f"printf(\"%d\\n\", {a});"])


def version(draw: Draw) -> str:
    digits = [str(draw.below(draw.pick([4, 12, 30]))) for _ in range(draw.between(2, 3))]
    return draw.pick(["v", "", ""]) + ".".join(digits) + (draw.pick(["-beta", "-rc1", "a", "-alpha.2"]) if draw.percent(15) else "")


def mark(draw: Draw) -> str:
    """Returns a product number, an IP address, an ISBN or a licence plate."""
    way = draw.below(8)
    letters = lambda count: characters(draw, LOWER.upper(), count)
    return [f"{letters(draw.between(1, 3))}{draw.pick(['-', '', ' '])}{draw.below(9999)}", f"{letters(2)}{characters(draw, DIGITS, 6)}",
            ".".join(str(draw.below(256)) for _ in range(4)), f"{characters(draw, LOWER.upper() + DIGITS, draw.between(4, 8))}",
            f"978-3-{characters(draw, DIGITS, 5)}-{characters(draw, DIGITS, 3)}-{draw.below(10)}",
            f"{letters(draw.between(1, 3))}-{letters(2)} {draw.between(1, 9999)}", f"{letters(1)}{draw.between(1, 99)}",
            f"DE{characters(draw, DIGITS, 2)} {characters(draw, DIGITS, 4)} {characters(draw, DIGITS, 4)}"][way]


def tag(draw: Draw) -> str:
    """Returns the text after a # or @."""
    return draw.pick([draw.pick(PLAIN), word(draw), glued(draw), glued(draw), identifier(draw).strip("_"), f"{word(draw)}{draw.between(1, 2030)}"])


def emoji(draw: Draw) -> str:
    def one() -> str:
        way = draw.below(100)
        if way < 45:
            return draw.pick(COMMON)
        if way < 60:
            return draw.pick(MARKED)
        first, last = draw.pick(EMOJI)
        return chr(draw.between(first, last))

    way = draw.below(100)
    if way < 55:
        return one()
    return one() * draw.between(2, 5) if way < 75 else "".join(one() for _ in range(draw.pick([2, 2, 2, 3, 3, 4, 5])))


def foreign(draw: Draw) -> str:
    way = draw.below(100)
    if way < 25:
        return draw.pick(KNOWN)
    words = draw.pick([1, 1, 1, 1, 2, 3, 4])
    scripts = [draw.pick(sorted(SCRIPTS))] * words
    return " ".join(made_up(script, draw) for script in scripts)


def made_up(script: str, draw: Draw) -> str:
    """Returns letters of a script, or of two that occur together (ラーメン屋)."""
    first, last = SCRIPTS[script]
    short = first in (0x4E00, 0xAC00)
    length = draw.between(1, 4) if short else draw.between(1, 9)
    more = SCRIPTS[{"greek": "accented greek", "accented greek": "old greek", "katakana": "many han", "han": "hiragana", "thai": "thai marks",
                    "large kana": "han", "latin": "extended latin"}.get(script, script)]
    mixed = draw.percent(40)
    text = "".join(chr(draw.between(*more)) if mixed and draw.percent(25) else chr(draw.between(first, last)) for _ in range(length))
    return text[0].upper() + text[1:] if draw.percent(30) else text.upper() if draw.percent(5) else text


def borrowed(draw: Draw) -> str:
    """Returns words of languages in Latin letters: existing words or syllables."""
    if draw.percent(35):
        text = draw.pick(FOREIGN)
    else:
        text = " ".join(accented(sounds.invented(draw, PLAIN).lower(), draw) for _ in range(draw.pick([1, 1, 2, 2, 3, 4])))
    return text[0].upper() + text[1:] if draw.percent(40) else text.title() if draw.percent(5) else text


def accented(text: str, draw: Draw) -> str:
    """Adds a letter that English lacks, half of the time."""
    at = draw.below(len(text))
    marked = dict(a="áàâäãåą", e="éèêëę", i="íìîï", o="óòôöõøő", u="úùûüű", c="çčć", n="ñń", s="šśş", z="žźż", y="ý", l="ł", g="ğ").get(text[at])
    return text[:at] + draw.pick(marked) + text[at + 1:] if marked and draw.percent(60) else text


def symbol(draw: Draw) -> str:
    """Returns a number with a sign, as in a list."""
    n = draw.pick([str(draw.between(1, 99)), str(draw.between(100, 9999)), f"{draw.below(50)}{draw.pick(['.', ','])}{draw.below(10)}"])
    return draw.pick([f"£{n}", f"${n}", f"€{n}", f"{n} €", f"{n}%", f"{n} %", f"-{n}°C", f"{n}°C", f"{n} °C", f"+{n}", f"-{n}", f"{n}°", f"§ {n}", f"#{n}",
                      f"±{n}", f"~{n}", f"{n}x", f"x{n}", f"<{n}", f">{n}", f"≥ {n}", f"{n}²", f"{n}:{draw.between(1, 9)}", f"{n}/{draw.between(2, 9)}", f"½", f"¾",
                      f"{n}k", f"{n} {draw.pick(UNITS)}", f"{n}{draw.pick(UNITS)}", f"No. {draw.below(99)}".replace("No. ", "#"), f"≈ {n}", f"{n} × {draw.below(99)}", f"{n} + {draw.below(99)}", f"©{draw.between(1980, 2030)}", "→", "•", "™", "µ", "∞", "√2", "π"])


def measure(draw: Draw) -> str:
    return f"{draw.between(1, 999)} {draw.pick(UNITS)}"


def entity(draw: Draw) -> str:
    return draw.pick(["&amp;", "&nbsp;", "&lt;", "&gt;", "&quot;", "&copy;", "&eacute;", "&uuml;", "&euro;", "&hellip;", "&mdash;", "&times;", "&rarr;",
                      f"&#{draw.between(33, 9999)};", f"&#x{characters(draw, DIGITS + 'ABCDEF', draw.between(2, 5))};", "&apos;", "&larr;", "&bull;", "&sect;"])


def keyword(draw: Draw) -> str:
    """Returns a word of programs and computers, or a made-up name that occurs alone."""
    return draw.pick(KEYWORDS) if draw.percent(55) else draw.pick([word(draw), identifier(draw), identifier(draw) + draw.pick(["Error", "Exception"])])


def key(draw: Draw) -> str:
    """Returns a keyboard key, with one or two modifiers."""
    held = draw.weighted({"": 25, "Alt+": 15, "Shift+": 15, "Ctrl+": 30, "Ctrl+Shift+": 10, "Ctrl+Alt+": 5})
    return held + draw.pick(KEYS) if held else draw.pick(["F1", "F5", "F11", "Esc", "Tab"])


def emphasis(draw: Draw) -> list[tuple[str, str]]:
    """Returns beginnings and ends that are the same in both languages."""
    element = draw.pick(ELEMENTS)
    marks = draw.pick([("**", "**"), ("*", "*"), ("_", "_"), ("`", "`")]) if draw.percent(35) else (f"<{element}{attribute(draw)}>", f"</{element}>")
    return [(mark, mark) for mark in marks]


def attribute(draw: Draw) -> str:
    """Returns the attributes of a tag; most tags have none."""
    if draw.percent(75):
        return ""
    return f' {draw.pick(["class", "id", "href", "style", "title", "lang"])}="{draw.pick([name(draw), url(draw), "de"])}"'


MAKERS = {"keyword": keyword, "key": key, "url": url, "email": email, "file": file, "path": path, "code": code, "version": version, "mark": mark, "emoji": emoji,
          "foreign": foreign, "borrowed": borrowed, "symbol": symbol, "measure": measure, "entity": entity, "tag": tag,
          "identifier": identifier, "english": english, "statement": statement, "marks": marks}


# Elements that German writes differently.
PAIR_MAKERS = {"aside": aside, **figures.MAKERS}


def fill(kind: str, english: str, german: str, draw: Draw) -> tuple[str, str]:
    """Fills the frame: one thing of its kind for {x}, and another one for {y}."""
    if kind == "emphasis":
        things = emphasis(draw)
    elif kind in PAIR_MAKERS:
        things = [PAIR_MAKERS[kind](draw) for _ in "xy"]
    else:
        things = [(MAKERS[kind](draw),) * 2 for _ in "xy"]
    for place, thing in zip(("{x}", "{y}"), things):
        english, german = english.replace(place, thing[0]), german.replace(place, thing[1])
    return english, german


def marked_up(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Puts the text into one tag or two, or adds a tag without content."""
    if re.search("[{<>&]", english + german):
        return None
    outer, inner = draw.pick(ELEMENTS), draw.pick(ELEMENTS)
    link = f'<a href="{draw.pick([url(draw), file(draw), "#" + name(draw)])}">'
    before, after = draw.pick([(f"<{outer}>", f"</{outer}>"), (f"<{outer}{attribute(draw)}>", f"</{outer}>"), (link, "</a>"), (f"<{outer}><{inner}>", f"</{inner}></{outer}>"),
                               ("", "<br>"), (f"<ul><li>", "</li></ul>"), (f"<{outer}> ", f" </{outer}>"), ("<!-- ", " -->"), (f"<tr><td>{draw.below(100)}</td><td>", "</td></tr>"), ("<" + outer.upper() + ">", "</" + outer.upper() + ">")])
    return before + english + after, before + german + after


def around(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Returns a sentence with additions before and after it, the same on both sides."""
    if "{" in english + german:
        return None
    way = draw.below(17)
    face = emoji(draw)
    element = draw.pick(ELEMENTS)
    before, after = [
        ("", f" {face}"), (f"{face} ", ""), ("", face), ("", f" #{tag(draw)}"), ("", f" #{tag(draw)} #{tag(draw)}"), (f"@{tag(draw)} ", ""),
        (f"<{element}>", f"</{element}>"), ("- ", ""), (f"{draw.between(1, 30)}. ", ""), ("(", ")"), ("**", "**"), ("> ", ""), ("* ", ""),
        ("", f" {url(draw)}"), ("", f" {entity(draw)}"), (f"[{draw.between(1, 99)}] ", ""), ("# ", "")][way]
    return before + english + after, before + german + after


def entities(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Writes spaces, "and" and quotes as web pages do."""
    way = draw.below(3)
    if re.search("[&<>]", english + german):
        return None
    if way == 0 and english.count(" ") <= 4:
        return english.replace(" ", "&nbsp;"), german.replace(" ", "&nbsp;")
    if way == 1 and english.count(" and ") == 1 and german.count(" und ") == 1:
        sign = draw.pick(["&amp;", "&amp;", "&"])
        return english.replace(" and ", f" {sign} "), german.replace(" und ", f" {sign} ")
    if way == 2:
        first, last = draw.pick([("&quot;", "&quot;"), ("&lt;", "&gt;"), ("&nbsp;", ""), ("&bull; ", ""), ("&ldquo;", "&rdquo;"), ("&copy; ", ""), ("", "&hellip;"), ("", " &rarr;")])
        return first + english + last, first + german + last
    return None


def repeated_mark(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Wow!!! Really???"""
    if english[-1] not in "!?." or german[-1] != english[-1] or english[-2] in "!?.":
        return None
    mark = english[-1] * draw.between(1, 3) if english[-1] != "." else ".."
    more = draw.pick(["", "", "!"]) if english[-1] == "?" else ""
    return english + mark + more, german + mark + more


def instead_of_a_name(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Replaces Tom, if he occurs once on both sides, by a handle or a name in another script."""
    pattern = re.compile(r"(?<![\w'’-])Tom(?![\w'’-])")
    if len(pattern.findall(english)) != 1 or len(pattern.findall(german)) != 1:
        return None
    new = draw.weighted({"@": 4, "foreign": 5, "borrowed": 1, "mark": 1})
    thing = "@" + tag(draw) if new == "@" else MAKERS[new](draw)
    return pattern.sub(lambda _: thing, english), pattern.sub(lambda _: thing, german)
