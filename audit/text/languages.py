"""Codes of languages: ISO 639-1 where a language has one (`en`, `zh`), with a region or script behind a hyphen where it
matters (`pt-BR`, `zh-TW`), as in BCP 47."""

import re
from functools import cache

from audit.resources import data_rows

SPELLED = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # How we write the code of a language: en, zh, pt-BR
_CODE = re.compile(r"([A-Za-z]{2,3})((?:[-_][A-Za-z0-9]{2,8})*)")
_CODES = [code for row in data_rows("languages.txt") for code in row[0].split()]
TWO_LETTERS = frozenset(code for code in _CODES if ":" not in code)  # The two-letter codes of ISO 639-1
TWO_OF_THREE = dict(code.split(":") for code in _CODES if ":" in code)  # ISO 639-3 and 639-2 to 639-1


def language_code(written: str) -> str | None:
    """Return the code of a language as we spell it, or None for what is none; codes of three letters are taken as they
    are, since there are thousands.

    >>> language_code("EN"), language_code("pt_BR"), language_code("jp"), language_code("English")
    ('en', 'pt-BR', None, None)
    """
    match = _CODE.fullmatch(written.strip())
    base = match[1].lower() if match else ""
    return base + match[2].replace("_", "-") if match and (len(base) == 3 or base in TWO_LETTERS) else None


def is_code(code: str) -> bool:
    """Return whether this is the code of a language, spelled as we do."""
    return language_code(code) == code


def two_letters(code: str) -> str:
    """Return the code of a language in ISO 639-1 where it has one there, else as it was, without region and script.

    >>> two_letters("eng"), two_letters("pt-BR"), two_letters("ast")
    ('en', 'pt', 'ast')
    """
    language = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    return TWO_OF_THREE.get(language, language)


@cache
def display_name(code: str, language: str) -> str | None:
    """Return the name of a language in another one, by Babel (CLDR); None without it, and for an unknown code."""
    try:
        from babel import Locale, UnknownLocaleError
    except ImportError:
        return None
    try:
        name: str | None = Locale.parse(code, sep="-").get_display_name(language)
    except (UnknownLocaleError, ValueError):
        return None
    return name
