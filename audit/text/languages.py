"""Codes of languages: ISO 639-1 where a language has one (`en`, `zh`), with a region or script behind a hyphen where it
matters (`pt-BR`, `zh-TW`), as in BCP 47."""

import re
from functools import cache

from audit.resources import data_file

SPELLED = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""How we write the code of a language: en, zh, pt-BR."""
_CODE = re.compile(r"([A-Za-z]{2,3})((?:[-_][A-Za-z0-9]{2,8})*)")
_CODES = [
    code
    for line in data_file("languages.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for code in line.split()
]
TWO_LETTERS = frozenset(code for code in _CODES if ":" not in code)
"""The two-letter codes of ISO 639-1."""
TWO_OF_THREE = dict(code.split(":") for code in _CODES if ":" in code)
"""ISO 639-3 and 639-2 to 639-1."""


def language_code(written: str) -> str | None:
    """The code of a language as we spell it, or None for what is none.

    Codes of three letters are taken as they are: there are thousands.

    >>> language_code("EN"), language_code("pt_BR"), language_code("jp"), language_code("English")
    ('en', 'pt-BR', None, None)
    """
    match = _CODE.fullmatch(written.strip())
    if match is None:
        return None
    base = match[1].lower()
    return None if len(base) == 2 and base not in TWO_LETTERS else base + match[2].replace("_", "-")


def is_code(code: str) -> bool:
    """Whether this is the code of a language, spelled as we do.

    >>> is_code("pt-BR"), is_code("ES"), is_code("jp")
    (True, False, False)
    """
    return language_code(code) == code


def two_letters(code: str) -> str:
    """The code of a language in ISO 639-1 where it has one there, else as it was; a region or script is dropped.

    >>> two_letters("eng"), two_letters("ca"), two_letters("pt-BR"), two_letters("ast")
    ('en', 'ca', 'pt', 'ast')
    """
    language = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    return TWO_OF_THREE.get(language, language)


# Names of languages in another language, from the library babel (CLDR) where it is installed.


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
        name: str | None = Locale.parse(code, sep="-").get_display_name(language)
        return name
    except (UnknownLocaleError, ValueError):
        return None
