"""Makes numbers that German writes differently: 1,000,000 is 1.000.000, $19.99 is 19,99 $, 4.5 m is 4,5 m."""
from more_pairs import numbers
from more_pairs.draw import Draw

Pair = tuple[str, str]
CURRENCIES = "$€£"
UNITS = "m cm km kg g l ml m² kWh GB % °C km/h".split()


def decimal(draw: Draw) -> Pair:
    """Returns a number of a few digits with a unit, every other time with a decimal point."""
    places = draw.pick([0, 0, 1, 1, 2, 5])
    whole, part = draw.between(0, draw.pick([9, 99, 999])), "".join(str(draw.below(10)) for _ in range(places))
    unit = draw.pick(UNITS)
    sign = "-" if unit == "°C" and draw.percent(40) else ""
    blank = "" if draw.percent(30) else " "
    end = draw.weighted({blank + unit: 85, "": 15})
    return (f"{sign}{whole}.{part}{end}", f"{sign}{whole},{part}{end}") if places else (f"{sign}{whole}{end}",) * 2


def grouped(draw: Draw) -> Pair:
    """Returns thousands and millions, most of them round."""
    round_to = 10 ** draw.pick([0, 2, 3, 3, 5, 6])
    number = max(1000, draw.between(1, draw.pick([99_999, 999_999, 9_999_999, 999_999_999])) // round_to * round_to)
    return numbers.english_digits(number), numbers.german_digits(number)


def money(draw: Draw) -> Pair:
    """Puts the sign before the number in English and after it in German."""
    sign = draw.pick(CURRENCIES)
    if draw.percent(25):
        english, german = grouped(draw)
    elif draw.percent(50):
        whole, cents = draw.between(0, draw.pick([9, 99, 999])), draw.pick(["99", "50", "95", f"{draw.below(100):02}"])
        english, german = f"{whole}.{cents}", f"{whole},{cents}"
    else:
        english = german = str(draw.between(1, draw.pick([20, 99, 999])))
    return sign + english, f"{german} {sign}"


MAKERS = {"decimal": decimal, "grouped": grouped, "money": money}
