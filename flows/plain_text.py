"""Values as a terminal may show them: what models and their code wrote must not steer it."""

from rich.text import Text


def plain(value: object) -> Text:
    """The value's text without markup, and with control characters (a terminal's escapes) spelled out."""
    return Text("".join(_spelled(sign) for sign in str(value)))


def _spelled(sign: str) -> str:
    return sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode()
