"""Writes numbers, times and dates in English and German."""
from more_pairs.draw import Draw

ENGLISH = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
           "fifteen sixteen seventeen eighteen nineteen").split()
GERMAN = ("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
          "fünfzehn sechzehn siebzehn achtzehn neunzehn").split()
ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def english_words(number: int) -> str:
    """Spells a number from 0 to 9999: "two hundred and five"."""
    if number >= 1000:
        rest = number % 1000
        joint = "" if not rest else " and " if rest < 100 else " "
        return (english_words(number // 1000) + " thousand" + joint
                + (english_words(rest) if rest else ""))
    if number >= 100:
        rest = number % 100
        return (ENGLISH[number // 100] + " hundred"
                + (" and " + english_words(rest) if rest else ""))
    if number >= 20:
        tens, ones = ENGLISH_TENS[number // 10 - 2], number % 10
        return tens + ("-" + ENGLISH[ones] if ones else "")
    return ENGLISH[number]


def german_words(number: int) -> str:
    """Spells a number from 0 to 9999: "zweihundertfünf"; 1 alone is "eins"."""
    if number >= 1000:
        rest = number % 1000
        return _german_one(number // 1000) + "tausend" + (german_words(rest) if rest else "")
    if number >= 100:
        rest = number % 100
        return _german_one(number // 100) + "hundert" + (german_words(rest) if rest else "")
    if number >= 20:
        tens, ones = GERMAN_TENS[number // 10 - 2], number % 10
        return (_german_one(ones) + "und" if ones else "") + tens
    return GERMAN[number]


def _german_one(number: int) -> str:
    return "ein" if number == 1 else german_words(number)


def english_digits(number: int) -> str:
    return f"{number:,}"


def german_digits(number: int) -> str:
    return f"{number:,}".replace(",", ".")


def ordinal_suffix(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _spoken_time(draw: Draw) -> tuple[str, str]:
    hour = draw.between(1, 12)
    following = hour % 12 + 1
    now = english_words(hour), german_words(hour)
    then = english_words(following), german_words(following)
    ways = [
        (f"{now[0]} o'clock", ("ein" if hour == 1 else now[1]) + " Uhr"),
        (f"half past {now[0]}", f"halb {then[1]}"),
        (f"half past {now[0]}", f"halb {then[1]}"),
        (f"a quarter past {now[0]}", f"Viertel nach {now[1]}"),
        (f"quarter past {now[0]}", f"Viertel nach {now[1]}"),
        (f"a quarter to {then[0]}", f"Viertel vor {then[1]}"),
        (f"quarter to {then[0]}", f"Viertel vor {then[1]}"),
        (f"ten past {now[0]}", f"zehn nach {now[1]}"),
        (f"five past {now[0]}", f"fünf nach {now[1]}"),
        (f"twenty past {now[0]}", f"zwanzig nach {now[1]}"),
        (f"ten to {then[0]}", f"zehn vor {then[1]}"),
        (f"five to {then[0]}", f"fünf vor {then[1]}"),
        (f"twenty to {then[0]}", f"zwanzig vor {then[1]}"),
    ]
    return draw.pick(ways)


def clock(draw: Draw) -> tuple[str, str]:
    """Returns half past, and now and then a quarter: the times that models get wrong most often."""
    hour = draw.between(1, 12)
    following = hour % 12 + 1
    way = draw.weighted({"half": 7, "past": 1, "to": 1})
    article = draw.pick(["a ", ""])
    if way == "half":
        return f"half past {english_words(hour)}", f"halb {german_words(following)}"
    if way == "past":
        return f"{article}quarter past {english_words(hour)}", f"Viertel nach {german_words(hour)}"
    return (f"{article}quarter to {english_words(following)}",
            f"Viertel vor {german_words(following)}")


def _written_time(draw: Draw) -> tuple[str, str]:
    hour, minute = draw.between(1, 12), draw.pick([0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55])
    if draw.percent(15):
        minute = draw.below(60)
    half = draw.pick(["", "", "a.m.", "p.m."])
    if not half:
        shown = draw.between(13, 23) if draw.percent(25) else hour
        return f"{shown}:{minute:02}", f"{shown}:{minute:02} Uhr"
    full = hour % 12 + (12 if half == "p.m." else 0)
    english = f"{hour} {half}" if minute == 0 else f"{hour}:{minute:02} {half}"
    german = f"{full} Uhr" if minute == 0 else f"{full}:{minute:02} Uhr"
    return english, german


def time(draw: Draw) -> tuple[str, str]:
    """Returns the words after "at" and "um" ("half past eight", "halb neun")."""
    return _spoken_time(draw) if draw.percent(55) else _written_time(draw)


def date(draw: Draw, months: list[tuple[str, str]]) -> tuple[str, str]:
    """Returns the words after "on" and "am" ("May 3rd", "3. Mai")."""
    english, german = draw.pick(months)
    day = draw.between(1, 28)
    suffix = ordinal_suffix(day)
    ways = [f"{english} {day}", f"{english} {day}{suffix}", f"{day} {english}",
            f"the {day}{suffix} of {english}"]
    return draw.pick(ways), f"{day}. {german}"


def money(draw: Draw, currencies: list[tuple[str, str]]) -> tuple[str, str]:
    common = [("euros", "Euro"), ("dollars", "Dollar"), ("pounds", "Pfund"), ("cents", "Cent"),
              ("francs", "Franken"), ("Swiss francs", "Schweizer Franken"), ("yen", "Yen")]
    unit = draw.pick(common) if draw.percent(75) else draw.pick(currencies)
    if draw.percent(20):
        number = draw.between(2, 12)
        return f"{english_words(number)} {unit[0]}", f"{german_words(number)} {unit[1]}"
    if draw.percent(12) and unit[0] in ("euros", "dollars", "pounds"):
        sign = {"euros": "€", "dollars": "$", "pounds": "£"}[unit[0]]
        number = draw.between(2, 999)
        return f"{sign}{number}", f"{number} {unit[1]}"
    if draw.percent(15) and unit[0] in ("euros", "dollars", "pounds"):
        whole, part = draw.between(1, 99), draw.between(5, 99)
        return f"{whole}.{part:02} {unit[0]}", f"{whole},{part:02} {unit[1]}"
    number = draw.pick([draw.between(2, 99), draw.between(2, 200) * 5, draw.between(10, 99) * 100])
    return f"{english_digits(number)} {unit[0]}", f"{german_digits(number)} {unit[1]}"

