"""Names of languages in another language, from the library babel (CLDR) where it is installed."""

from functools import cache


@cache
def display_name(code: str, language: str) -> str | None:
    """The name of the language `code` (BCP 47) in `language`, an ISO 639-1 code; None where babel is not installed or
    knows no such code.

    >>> display_name("no language", "en") is None
    True
    """
    try:
        from babel import Locale
        from babel.core import UnknownLocaleError
    except ImportError:
        return None
    try:
        return Locale.parse(code, sep="-").get_display_name(language)
    except (UnknownLocaleError, ValueError):
        return None
