#!/usr/bin/env python3
"""Writes recipes/en-de/words/cldr.tsv: the English and German names of countries, languages, cities, months,
weekdays and currencies, from Unicode CLDR in Babel (PyPI or Debian).

    recipes/en-de/more_pairs/cldr_table.py > recipes/en-de/words/cldr.tsv

The table is kept in the repository, so that making the training data needs no library and gives
the same bytes whatever version is installed. A row is kind, code, English, German.
"""
import babel
from babel import Locale

CURRENCIES = ("AUD", "CAD", "CNY", "CZK", "DKK", "GBP", "INR", "JPY", "KRW", "MXN", "NOK", "SEK",
              "TRY", "UAH", "ZAR")
ENGLISH, GERMAN = Locale("en"), Locale("de")


def plain(name: str) -> bool:
    """True for a name that fits into a sentence: not a list, without a remark or a soft hyphen."""
    return not any(mark in name for mark in "&(),/\u00ad") and " - " not in name


def both(kind: str, english, german) -> list[tuple[str, str, str, str]]:
    return [(kind, code, english[code], german[code]) for code in sorted(german)
            if code in english and plain(english[code]) and plain(german[code])]


def cities() -> list[tuple[str, str, str, str]]:
    rows = []
    for code, zone in sorted(GERMAN.time_zones.items()):
        area, _, last = code.rpartition("/")
        english = ENGLISH.time_zones.get(code, {}).get("city") or last.replace("_", " ")
        if area.split("/")[0] in ("Europe", "Asia", "Africa", "America") and "city" in zone:
            rows.append(("city", code, english, zone["city"].replace("\u00ad", "")))
    return [row for row in rows if plain(row[2]) and plain(row[3])]


def currencies() -> list[tuple[str, str, str, str]]:
    rows = []
    for code in CURRENCIES:
        plurals = [locale._data["currency_names_plural"].get(code) for locale in (ENGLISH, GERMAN)]
        if all(plurals) and plain(plurals[0]["other"]) and plain(plurals[1]["other"]):
            rows.append(("currency", code, plurals[0]["other"], plurals[1]["other"]))
    return rows


def main() -> None:
    territories = [{code: name for code, name in locale.territories.items() if code.isalpha()}
                   for locale in (ENGLISH, GERMAN)]
    rows = both("country", *territories)
    rows += [row for row in both("language", ENGLISH.languages, GERMAN.languages)
             if len(row[1]) == 2]
    rows += cities() + currencies()
    for kind in ("months", "days"):
        names = [getattr(locale, kind)["format"]["wide"] for locale in (ENGLISH, GERMAN)]
        rows += [(kind[:-1], str(i), names[0][i], names[1][i]) for i in sorted(names[0])]
    print(f"# Unicode CLDR by Babel {babel.__version__}; Unicode License v3, see README.md")
    for row in rows:
        print("\t".join(row))


if __name__ == "__main__":
    main()
