"""What an instruction states: its numbers, days and words, in whatever form it writes them.

"Send twice as much by May 18 at 7 pm" states 2, the day 5-18, and the hours 7 and 19. Code that asks whether
a value of a gold comes from the instruction asks here. English only, as the suites are.
"""

import math
import re
from functools import lru_cache

_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
]  # fmt: skip
_WORDS: dict[str, tuple[float, ...]] = {
    **{word: (number,) for number, word in enumerate(_SMALL)},
    **{word: (10 * (position + 2),) for position, word in enumerate(_TENS)},
    **{word: (position + 1,) for position, word in enumerate(_ORDINALS)},
    "hundred": (100,),
    "thousand": (1000,),
    "once": (1,),
    "twice": (2,),
    "double": (2,),
    "triple": (3,),
    "half": (2, 0.5),
    "halves": (2, 0.5),
    "quarter": (4, 0.25, 15),
    "pair": (2,),
    "couple": (2,),
    "dozen": (12,),
    "noon": (12,),
    "midnight": (0, 24),
}
MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
]  # fmt: skip
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<=\d)\.\d+")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b", re.IGNORECASE)
_MONTH_DAY = re.compile(
    rf"\b({'|'.join(MONTHS)})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b"
    rf"|\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({'|'.join(MONTHS)})\b",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"\b(?:\d{4}-)?(\d{2})-(\d{2})\b")
_TIME_WORD = re.compile(
    r"\b(today|tonight|yesterday|tomorrow|now|ago|recent\w*|latest|this|last|next|past|day|week|weekend|"
    r"month|year|birthday|due|hours?|minutes?|"
    + "|".join((*DAYS, *MONTHS))
    + r")s?\b|\b(19|20)\d\d\b",
    re.IGNORECASE,
)


def words(text: str) -> list[str]:
    """The words of a text in their order, case folded; digits are words, punctuation is not."""
    return re.findall(r"[^\W_]+", text.casefold())


@lru_cache(maxsize=256)
def numbers(text: str) -> frozenset[float]:
    """The numbers that a text states, in digits or words; "20%" states 20 and 0.2, "7 pm" 7 and 19.

    Signs are left out: "$-5" states 5.
    """
    found: set[float] = set()
    for match in _NUMBER.finditer(text):
        number = float(match.group().replace(",", "").rstrip(".") or 0)
        found.add(number)
        if re.match(r"\s*(%|percent)", text[match.end() :]):
            found.add(number / 100)
    spoken = words(text)
    for word, following in zip(spoken, [*spoken[1:], ""], strict=False):
        found.update(_WORDS.get(word, ()))
        if word in _TENS and following in _SMALL[1:10]:
            found.add(_WORDS[word][0] + _WORDS[following][0])
        if ordinal := re.fullmatch(r"(\d+)(st|nd|rd|th)", word):
            found.add(float(ordinal.group(1)))
    for hour, minute, half in _CLOCK.findall(text):
        found.add(int(hour) % 12 + (12 if half.lower() == "p" else 0))
        found.add(float(minute or 0))
    return frozenset(found)


def days(text: str) -> set[tuple[int, int]]:
    """The days (month 1-12, day 1-31) that a text states: "May 18", "18th of May", "2023-05-18"."""
    found = {(int(month), int(day)) for month, day in _ISO_DAY.findall(text)}
    for month, day, day_first, month_last in _MONTH_DAY.findall(text):
        found.add((MONTHS.index((month or month_last).lower()) + 1, int(day or day_first)))
    return found


def months(text: str) -> set[int]:
    """The months (1-12) that a text names in words."""
    return {MONTHS.index(word) + 1 for word in words(text) if word in MONTHS}


def speaks_of_time(text: str) -> bool:
    """True when a text has any word of date or time, so that a date may be derived from it."""
    return bool(_TIME_WORD.search(text))


def as_number(value: object) -> float | None:
    """A number, or a text that is nothing but a number, as a float; None for all else, booleans too.

    Numbers too great for a float, infinities and NaN are none either.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value.strip().replace(",", "") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
